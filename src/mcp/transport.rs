//! stdin that says when it is over: the protocol library goes on waiting for calls that are under way, and we want
//! to end them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct UntilEof<R> {
    reader: R,
    over: CancellationToken,
}

impl<R> UntilEof<R> {
    pub(super) fn new(reader: R, over: CancellationToken) -> Self {
        UntilEof { reader, over }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEof<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(cx, buf);
        let ended = match &polled {
            Poll::Ready(Ok(())) => buf.filled().len() == before && buf.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if ended {
            self.over.cancel();
        }
        polled
    }
}
