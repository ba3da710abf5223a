//! Lines of a bounded length, from anything that can be read.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest line anyone may send us, in bytes, its end not counted.
pub const MAX_LINE: usize = 1024 * 1024;

const CHUNK: usize = 16 * 1024;

/// Why there is no line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The rest of that line is skipped; the next call gives the line after it.
    #[error("a line is longer than {limit} bytes")]
    TooLong { limit: usize },
    /// The writer went away within a line. The next call says that it is over.
    #[error("the last line ends after {} bytes, within the line", .0.len())]
    Half(Vec<u8>),
    #[error("failed to read a line: {0}")]
    Io(#[from] io::Error),
}

/// Reads line by line. Never holds more than the limit and one chunk, whatever is sent.
#[derive(Debug)]
pub struct LineReader<R> {
    from: R,
    limit: usize,
    held: Vec<u8>,
    /// How much of `held` is known to have no line end.
    searched: usize,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub fn new(from: R) -> Self {
        LineReader::with_limit(from, MAX_LINE)
    }

    /// With a limit in bytes of its own, for instance in a test.
    pub fn with_limit(from: R, limit: usize) -> Self {
        LineReader {
            from,
            limit,
            held: Vec::new(),
            searched: 0,
            skipping: false,
        }
    }

    /// The next line without its `\n`, or `None` at the end. May be dropped while it waits: nothing is lost.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        loop {
            if let Some(line) = self.take_line()? {
                return Ok(Some(line));
            }
            self.held.reserve(CHUNK);
            // Bounded, since a vector may have more room than was asked for.
            let mut chunk = (&mut self.from).take(CHUNK as u64);
            if chunk.read_buf(&mut self.held).await? == 0 {
                return self.finish();
            }
        }
    }

    fn take_line(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        while let Some(found) = self.held[self.searched..].iter().position(|byte| *byte == b'\n') {
            let end = self.searched + found;
            let line = self.held[..end].to_vec();
            self.held.drain(..=end);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            return if end > self.limit {
                Err(self.too_long())
            } else {
                Ok(Some(line))
            };
        }
        if self.skipping {
            self.held.clear();
        } else if self.held.len() > self.limit {
            self.held = Vec::new();
            self.skipping = true;
            self.searched = 0;
            return Err(self.too_long());
        }
        self.searched = self.held.len();
        Ok(None)
    }

    fn finish(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        self.searched = 0;
        match std::mem::take(&mut self.held) {
            nothing if nothing.is_empty() => Ok(None),
            half => Err(LineError::Half(half)),
        }
    }

    fn too_long(&self) -> LineError {
        LineError::TooLong { limit: self.limit }
    }
}
