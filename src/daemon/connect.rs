//! To the daemon, and if there is none, to a new one: of any number that come at once, one starts it.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{sleep, timeout};

use super::place::Place;
use super::serve::COMMAND;
use crate::dirs;
use crate::error::{Error, Kind, Result};
use crate::process::detach;
use crate::process::file_lock::{FileLock, FlockArg, Refused};
use crate::process::lines::LineReader;
use crate::process::peer::{self, Peer};
use crate::supervisor::setup::Site;

/// Bytes of the longest line that a daemon sends: an answer has both halves, each with everything escaped.
pub(super) const LINE: usize = 64 * 1024 * 1024;

/// How long a daemon may take to say hello. One that does not is stopped or stuck, and is left alone.
const GREETING: Duration = Duration::from_secs(10);

/// How long somebody else may take to start one.
const STARTING: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(5);

/// How often it is tried: a daemon may leave at the very moment that we come.
const TRIES: u32 = 3;

/// Whom to connect to.
#[derive(Debug, Clone)]
pub struct Target {
    pub site: Site,
    pub place: Place,
    /// Boot at once, if a daemon has to be started.
    pub eager: bool,
}

/// The first line that a daemon sends. Whoever has seen it is being served.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Greeting {
    /// The version.
    pub coatepec: String,
    pub pid: i32,
}

/// A session that has not begun.
#[derive(Debug)]
pub struct Connection {
    pub greeting: Greeting,
    pub reader: LineReader<OwnedReadHalf>,
    pub writer: OwnedWriteHalf,
}

impl Target {
    /// The daemon of this checkout for a process in our environment.
    ///
    /// # Errors
    /// When there is no private directory for its socket.
    pub fn new(site: &Site, eager: bool) -> Result<Target> {
        Ok(Target {
            site: site.clone(),
            place: Place::of(site)?,
            eager,
        })
    }
}

/// # Errors
/// When there is no daemon and none can be started.
pub async fn connect(target: &Target) -> Result<Connection> {
    let mut last = None;
    for _ in 0..TRIES {
        match greeted(&target.place).await {
            Ok(connection) => return Ok(connection),
            Err(error) => tracing::debug!(%error, "no daemon"),
        }
        let _lock = lock(&target.place).await?;
        match greeted(&target.place).await {
            Ok(connection) => return Ok(connection),
            Err(error) if is_usurped(&error) => tracing::warn!(%error, "it is replaced"),
            Err(_) => {}
        }
        start(target)?;
        // While the lock is held: nobody else takes it for dead before it has spoken.
        match greeted(&target.place).await {
            Ok(connection) => return Ok(connection),
            Err(error) => last = Some(error),
        }
    }
    Err(unavailable(target, last))
}

fn unavailable(target: &Target, error: Option<io::Error>) -> Error {
    if let Some(error) = error.filter(is_usurped) {
        return Error::new(Kind::ServerUsurped, error.to_string()).hint(
            "a test, or what it left behind, poses as the server: look at what was run last, and end that process",
        );
    }
    let log = target.place.log();
    Error::internal("failed to start a server to share")
        .hint(format!("see {}; with --no-share there is none", log.display()))
}

/// Whether somebody listens who is not to be spoken to.
fn is_usurped(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.get_ref().is_some()
}

async fn greeted(place: &Place) -> io::Result<Connection> {
    let stream = UnixStream::connect(place.socket()).await?;
    // Tests may put a socket of their own in the place of ours. Whoever talks to them tells them what to do, and believes
    // what they say.
    let usurped = |who: &str| {
        let message = format!(
            "{who} answers at `{}` in the place of the server",
            place.socket().display()
        );
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    };
    match peer::of(&stream)? {
        Peer::User => {}
        Peer::App(pid) => return usurped(&format!("process {pid} of a test")),
        Peer::Stranger => return usurped("another user"),
    }
    let (reader, writer) = stream.into_split();
    let mut reader = LineReader::with_limit(reader, LINE);
    let line = timeout(GREETING, reader.next()).await.map_err(io::Error::other)?;
    let line = line.map_err(io::Error::other)?.unwrap_or_default();
    let greeting = serde_json::from_slice(&line)?;
    Ok(Connection {
        greeting,
        reader,
        writer,
    })
}

/// Held by whoever starts or ends the daemon of this place.
async fn lock(place: &Place) -> Result<FileLock> {
    let over = Instant::now() + STARTING;
    loop {
        match FileLock::try_at(place.lock(), FlockArg::LockExclusiveNonblock, place.name()) {
            Ok(lock) => return Ok(lock),
            Err(Refused::Io(error)) => return Err(error.into()),
            Err(Refused::Taken(holder)) if Instant::now() >= over => {
                let holder = holder.unwrap_or_else(|| "another process".to_owned());
                return Err(Error::internal(format!("{holder} takes too long to start a server")));
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// The socket is there and takes connections before the daemon runs.
fn start(target: &Target) -> Result<()> {
    let place = &target.place;
    let failed = |error: io::Error| Error::internal("failed to start a server to share").source(error);
    let listener = listen(&place.socket()).map_err(failed)?;
    // Of the last daemon of this place only.
    let log = dirs::fresh(&place.log()).map_err(failed)?;
    let Site { root, sandbox_at_least } = &target.site;
    let mut arguments: Vec<OsString> = vec![COMMAND.into(), place.name().into(), root.into()];
    arguments.push(sandbox_at_least.to_string().into());
    arguments.extend(target.eager.then(|| "--eager".into()));
    detach::start(&arguments, root, listener.into(), log).map_err(failed)
}

/// Whatever lies there belongs to nobody who answers.
fn listen(socket: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    Ok(listener)
}
