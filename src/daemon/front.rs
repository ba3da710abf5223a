//! What an MCP client starts: hands its lines to the daemon and the answers back, and finds another daemon when that one
//! is lost.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use super::connect::{Connection, Target, connect};
use super::relay::Relay;
use crate::error::Result;
use crate::mcp;
use crate::process::lines::{LineError, LineReader};

/// Serves the client on these streams until it closes its end, or `stop` is cancelled.
///
/// # Errors
/// When there is no daemon to begin with, and none can be started. Nothing was read by then.
pub async fn serve<R, W>(target: Target, reader: R, writer: W, stop: CancellationToken) -> Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let daemon = Some(Daemon::new(connect(&target).await?));
    let front = Front {
        target,
        client: LineReader::with_limit(reader, mcp::LINE),
        to_client: Outbox::new(writer),
        daemon,
        relay: Relay::default(),
    };
    tokio::select! {
        () = front.serve() => {}
        () = stop.cancelled() => {}
    }
    Ok(())
}

struct Front<R, W> {
    target: Target,
    client: LineReader<R>,
    to_client: Outbox<W>,
    /// `None` after it was lost, until it is needed again: whoever ended it on purpose does not want another one at once.
    daemon: Option<Daemon>,
    relay: Relay,
}

struct Daemon {
    lines: LineReader<tokio::net::unix::OwnedReadHalf>,
    out: Outbox<tokio::net::unix::OwnedWriteHalf>,
}

impl Daemon {
    fn new(connection: Connection) -> Self {
        Daemon {
            lines: connection.reader,
            out: Outbox::new(connection.writer),
        }
    }
}

/// What a front does next.
enum Heard {
    Client(std::result::Result<Option<Vec<u8>>, LineError>),
    Daemon(Option<Vec<u8>>),
    /// To the daemon.
    Told(io::Result<()>),
    /// To the client.
    Sent(io::Result<()>),
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Front<R, W> {
    async fn serve(mut self) {
        loop {
            let goes_on = match self.hear().await {
                Heard::Client(line) => self.client_said(line).await,
                Heard::Daemon(Some(line)) => self.daemon_said(&line),
                Heard::Told(told) => self.told(told),
                Heard::Daemon(None) => self.lost().await,
                Heard::Sent(sent) => sent.is_ok(),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// In neither direction anything is read that could not be passed on, and neither direction waits for the other.
    async fn hear(&mut self) -> Heard {
        let to_client = &mut self.to_client;
        let clear = to_client.is_empty();
        let Some(Daemon { lines, out }) = &mut self.daemon else {
            return tokio::select! {
                line = self.client.next() => Heard::Client(line),
                sent = to_client.send(), if !clear => Heard::Sent(sent),
            };
        };
        let room = out.is_empty();
        tokio::select! {
            line = self.client.next(), if room => Heard::Client(line),
            told = out.send(), if !room => Heard::Told(told),
            line = lines.next(), if clear => Heard::Daemon(line.ok().flatten()),
            sent = to_client.send(), if !clear => Heard::Sent(sent),
        }
    }

    async fn client_said(&mut self, line: std::result::Result<Option<Vec<u8>>, LineError>) -> bool {
        match line {
            Ok(Some(line)) => self.pass_on(&line).await,
            Err(LineError::TooLong { .. }) => self.to_client.push(mcp::too_long().as_bytes()),
            Ok(None) | Err(_) => return false,
        }
        true
    }

    async fn pass_on(&mut self, line: &[u8]) {
        let mut refused = None;
        if self.daemon.is_none() && !Relay::is_notification(line) {
            refused = self.connect().await.err();
        }
        self.relay.asks(line);
        if let Some(error) = refused {
            self.answer(|relay| relay.refuse(&error));
        }
        if let Some(daemon) = &mut self.daemon {
            daemon.out.push(line);
        }
    }

    /// A daemon that takes nothing any more may have said something before, which is still to be read.
    fn told(&mut self, told: io::Result<()>) -> bool {
        if let (Err(_), Some(daemon)) = (told, &mut self.daemon) {
            daemon.out.discard();
        }
        true
    }

    fn daemon_said(&mut self, line: &[u8]) -> bool {
        if self.relay.answers(line) {
            self.to_client.push(line);
        }
        true
    }

    async fn lost(&mut self) -> bool {
        self.daemon = None;
        self.answer(Relay::lost);
        if self.relay.waits()
            && let Err(error) = self.connect().await
        {
            self.answer(|relay| relay.refuse(&error));
        }
        true
    }

    async fn connect(&mut self) -> Result<()> {
        let daemon = self.daemon.insert(Daemon::new(connect(&self.target).await?));
        self.relay.resume().iter().for_each(|line| daemon.out.push(line));
        Ok(())
    }

    fn answer(&mut self, answers: impl FnOnce(&mut Relay) -> Vec<Vec<u8>>) {
        for answer in answers(&mut self.relay) {
            self.to_client.push(&answer);
        }
    }
}

/// Lines on their way out. What was handed over is never lost by giving up waiting.
struct Outbox<W> {
    to: W,
    bytes: Vec<u8>,
    sent: usize,
    flushed: bool,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    fn new(to: W) -> Self {
        Outbox {
            to,
            bytes: Vec::new(),
            sent: 0,
            flushed: true,
        }
    }

    fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.flushed = false;
    }

    fn is_empty(&self) -> bool {
        self.flushed
    }

    async fn send(&mut self) -> io::Result<()> {
        while self.sent < self.bytes.len() {
            let sent = self.to.write(&self.bytes[self.sent..]).await?;
            if sent == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.sent += sent;
        }
        self.to.flush().await?;
        self.discard();
        Ok(())
    }

    fn discard(&mut self) {
        self.bytes.clear();
        self.sent = 0;
        self.flushed = true;
    }
}
