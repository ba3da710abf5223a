//! The two streams of a client, line by line, as the protocol library takes them; and what it does not do: it says
//! nothing about a line that is no JSON, it would keep a line of any length in memory, and at the end of input it goes on
//! waiting for calls that are under way, which we want to end.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::ErrorData;
use rmcp::model::RequestId;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// Bytes of a line. A call with a hundred selectors as long as a path may be has less than one MiB.
pub(super) const LINE: usize = 10 * 1024 * 1024;

/// Read at a time.
const CHUNK: usize = 16 * 1024;

/// The two ends of a client.
pub(super) struct Lines<R: AsyncRead + Unpin, W: AsyncWrite> {
    lines: AsyncRwTransport<RoleServer, JsonLines<R>, W>,
    refused: UnboundedReceiver<Refused>,
    /// An answer that is being written: kept here because `receive` may be dropped while it waits.
    answer: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// `over` is cancelled when there is nothing more to read.
    pub(super) fn new(reader: R, writer: W, over: CancellationToken) -> Self {
        let (refuse, refused) = unbounded_channel();
        let reader = JsonLines::new(reader, over, refuse);
        Lines {
            // What passes is no longer than we let it be.
            lines: AsyncRwTransport::new_server(reader, writer).with_max_line_length(usize::MAX),
            refused,
            answer: None,
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.lines.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answer) = &mut self.answer {
                let _ = answer.await;
                self.answer = None;
            }
            tokio::select! {
                biased;
                // First, since the reader reads nothing more while one of these is waiting.
                Some(refused) = self.refused.recv() => self.answer = Some(Box::pin(self.lines.send(refused.into()))),
                message = self.lines.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await
    }
}

/// What is said to a line that is too long, by whoever reads it.
pub(super) fn too_long() -> String {
    serde_json::to_string(&TxJsonRpcMessage::<RoleServer>::from(Refused::TooLong)).unwrap_or_default()
}

/// Why a line was not passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refused {
    NoJson,
    TooLong,
    /// A request with parameters that no request has.
    Parameters(RequestId),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NoJson => write!(f, "the line is no JSON; a message is one line of JSON"),
            Refused::TooLong => write!(f, "the line is longer than {LINE} bytes and was skipped"),
            Refused::Parameters(_) => write!(f, "`params` must be an object"),
        }
    }
}

impl From<Refused> for TxJsonRpcMessage<RoleServer> {
    /// Without an id where nobody could read it.
    fn from(refused: Refused) -> Self {
        let message = refused.to_string();
        let (error, id) = match refused {
            Refused::Parameters(id) => (ErrorData::invalid_params(message, None), Some(id)),
            Refused::NoJson | Refused::TooLong => (ErrorData::parse_error(message, None), None),
        };
        TxJsonRpcMessage::<RoleServer>::error(error, id)
    }
}

/// Passes on whole lines that are JSON, and refuses the others.
struct JsonLines<R> {
    reader: R,
    over: CancellationToken,
    refuse: UnboundedSender<Refused>,
    splitter: Splitter,
    ended: bool,
}

impl<R> JsonLines<R> {
    fn new(reader: R, over: CancellationToken, refuse: UnboundedSender<Refused>) -> Self {
        JsonLines {
            reader,
            over,
            refuse,
            splitter: Splitter::default(),
            ended: false,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for JsonLines<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.splitter.lines.is_empty() && !self.ended {
            let mut bytes = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.reader).poll_read(cx, &mut chunk));
            if read.is_err() || chunk.filled().is_empty() {
                self.ended = true;
                self.over.cancel();
                return Poll::Ready(read);
            }
            let refused = self.splitter.push(chunk.filled());
            let waiting = !refused.is_empty();
            for why in refused {
                let _ = self.refuse.send(why);
            }
            if waiting {
                // `receive` is woken by them, and reads on when they are answered: a flood waits for its answers.
                return Poll::Pending;
            }
        }
        self.splitter.give(into);
        Poll::Ready(Ok(()))
    }
}

/// Lines out of chunks. What it does depends on the bytes alone, not on how they came.
#[derive(Debug, Default)]
struct Splitter {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The rest of this line is to be skipped.
    skipping: bool,
    /// Whole lines to pass on.
    lines: VecDeque<u8>,
}

impl Splitter {
    /// Answers what was refused.
    fn push(&mut self, chunk: &[u8]) -> Vec<Refused> {
        chunk
            .split_inclusive(|byte| *byte == b'\n')
            .filter_map(|piece| self.piece(piece))
            .collect()
    }

    /// Of one line; with its end or not.
    fn piece(&mut self, piece: &[u8]) -> Option<Refused> {
        let whole = piece.ends_with(b"\n");
        if self.skipping {
            self.skipping = !whole;
            return None;
        }
        if self.line.len() + piece.len() > LINE {
            self.line = Vec::new();
            self.skipping = !whole;
            return Some(Refused::TooLong);
        }
        self.line.extend_from_slice(piece);
        if !whole {
            return None;
        }
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let refused = refusal(&line);
        if refused.is_none() {
            self.lines.extend(line);
        }
        refused
    }

    fn give(&mut self, into: &mut ReadBuf<'_>) {
        let (first, _) = self.lines.as_slices();
        let count = first.len().min(into.remaining());
        into.put_slice(&first[..count]);
        self.lines.drain(..count);
    }
}

/// As the library reads it, with a byte order mark if there is one.
fn refusal(line: &[u8]) -> Option<Refused> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(Refused::NoJson);
    };
    // The library would answer these without their id.
    let odd = message
        .get("params")
        .is_some_and(|params| !params.is_object() && !params.is_null());
    let id = message.get("id").filter(|_| odd && message["method"].is_string())?;
    RequestId::deserialize(id).ok().map(Refused::Parameters)
}

#[cfg(test)]
mod tests {
    use super::{LINE, Refused, Splitter};

    fn split(chunks: &[&[u8]]) -> (String, Vec<Refused>) {
        let mut splitter = Splitter::default();
        let refused = chunks.iter().flat_map(|chunk| splitter.push(chunk)).collect();
        let lines: Vec<u8> = splitter.lines.into();
        (String::from_utf8(lines).unwrap(), refused)
    }

    #[test]
    fn lines_pass_whole_and_only_if_they_are_json() {
        let text: &[u8] =
            b"{\"a\":1}\nnonsense\n\n  \r\n[1,2]\r\n{\"a\":\n\xff\n\"\xff\"\n\xef\xbb\xbf{}\n{\"half\":1}";
        let expected = "{\"a\":1}\n[1,2]\r\n\u{feff}{}\n".to_owned();
        assert_eq!(split(&[text]), (expected.clone(), vec![Refused::NoJson; 4]));
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(split(&bytes), (expected, vec![Refused::NoJson; 4]));
    }

    #[test]
    fn parameters_that_are_no_object_are_refused_by_the_id_of_their_request() {
        let refused = |line: &str| split(&[line.as_bytes(), b"\n"]).1;
        for params in ["[1]", "\"x\"", "7", "true"] {
            let line = |id: &str| format!(r#"{{"jsonrpc":"2.0",{id}"method":"tools/list","params":{params}}}"#);
            let [Refused::Parameters(id)] = &refused(&line(r#""id":7,"#))[..] else {
                panic!("{params}")
            };
            assert_eq!(id.to_string(), "7");
            assert_eq!(refused(&line("")), [], "nobody waits for an answer");
        }
        for params in ["{}", "null"] {
            assert_eq!(refused(&format!(r#"{{"id":7,"method":"ping","params":{params}}}"#)), []);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_once_and_the_next_one_passes() {
        let long = vec![b' '; LINE + 1];
        assert_eq!(
            split(&[&long, b"more", b"and more\n{}\n"]),
            ("{}\n".to_owned(), vec![Refused::TooLong])
        );
    }

    #[test]
    fn a_line_as_long_as_it_may_be_passes() {
        let mut line = vec![b' '; LINE - 3];
        line.extend(b"{}\n");
        assert_eq!(split(&[&line]).1, []);
    }
}
