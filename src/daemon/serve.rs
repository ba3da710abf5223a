//! The daemon: accepts sessions until the last one is over and nobody comes for a while.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener as Blocking;
use std::time::Duration;

use nix::sys::socket::{Backlog, listen};
use tokio::io::AsyncWriteExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::connect::Greeting;
use super::place::Place;
use super::signals;
use crate::config::Config;
use crate::config::sandbox::Mode;
use crate::dirs;
use crate::error::{Error, Result};
use crate::mcp;
use crate::process::file_lock::{FileLock, FlockArg};
use crate::process::orphans;
use crate::process::peer::{self, Peer};
use crate::supervisor::Supervisor;
use crate::supervisor::card::{Card, cards};
use crate::supervisor::setup::Site;

/// What makes this binary a daemon, as its first argument. The listening socket is its stdin.
pub const COMMAND: &str = "__daemon";

/// For whoever came at the very moment that we were about to leave.
const LAST_LOOK: Duration = Duration::from_millis(10);

/// What a daemon is started with, after [`COMMAND`].
#[derive(Debug)]
struct Order {
    place: Place,
    site: Site,
    eager: bool,
}

/// Serves until nobody is left.
///
/// # Errors
/// When it can't begin.
pub fn main(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let order = Order::read(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve(order));
    runtime.shutdown_background();
    served
}

impl Order {
    fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Order> {
        let mut next = || arguments.next().ok_or_else(|| Error::internal("too few arguments"));
        let name = next()?.to_string_lossy().into_owned();
        let site = Site {
            root: next()?.into(),
            sandbox_at_least: mode(&next()?)?,
        };
        Ok(Order {
            place: Place::named(name)?,
            site,
            eager: arguments.next().is_some(),
        })
    }
}

fn mode(word: &OsStr) -> Result<Mode> {
    let all = [Mode::Off, Mode::Standard, Mode::Strict];
    let found = all.into_iter().find(|mode| word == mode.to_string().as_str());
    found.ok_or_else(|| Error::internal("an argument is no mode of the sandbox"))
}

async fn serve(order: Order) -> Result<()> {
    let stop = signals::stop()?;
    let listener = inherited()?;
    let Order { place, site, eager } = order;
    let desk = Desk::open(place, Card::ours(&site))?;
    spawn_blocking(sweep);
    orphans::adopt();
    let (supervisor, steward) = Supervisor::start(site, eager);
    let sessions = accept(&desk, &listener, &supervisor, &stop).await;
    drop(listener);
    desk.close();
    end(sessions, &stop).await;
    supervisor.shut_down().await;
    let _ = steward.await;
    Ok(())
}

/// The socket that was handed over; it is nobody else's.
fn inherited() -> Result<UnixListener> {
    let listener = Blocking::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    // Who connects sees who listened last, and wants to know that it is no test.
    listen(&listener, Backlog::MAXCONN).map_err(io::Error::from)?;
    listener.set_nonblocking(true)?;
    Ok(UnixListener::from_std(listener)?)
}

type Sessions = JoinSet<()>;

/// Until the last session has been over for a while, or somebody asks for the end.
async fn accept(desk: &Desk, listener: &UnixListener, supervisor: &Supervisor, stop: &CancellationToken) -> Sessions {
    let mut sessions = Sessions::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => admit(stream, &mut sessions, supervisor, stop),
                // Too many open files, most likely; those who wait go on waiting.
                Err(_) => sleep(Duration::from_millis(100)).await,
            },
            Some(_) = sessions.join_next() => {}
            () = idle(supervisor), if sessions.is_empty() => {
                let Some(_lock) = desk.lock() else { continue };
                // Who came in the meantime is served.
                match timeout(LAST_LOOK, listener.accept()).await {
                    Ok(Ok((stream, _))) => admit(stream, &mut sessions, supervisor, stop),
                    _ => {
                        desk.clear();
                        return sessions;
                    }
                }
            }
            () = stop.cancelled() => return sessions,
        }
    }
}

fn admit(stream: UnixStream, sessions: &mut Sessions, supervisor: &Supervisor, stop: &CancellationToken) {
    // What tests do is in a sandbox; what a session asks for would be done by us, outside of it.
    match peer::of(&stream) {
        Ok(Peer::Stranger) => tracing::warn!("refused a connection of another user"),
        Ok(Peer::App(pid)) => tracing::warn!(pid, "refused a connection out of a run"),
        Ok(Peer::User) => {
            sessions.spawn(session(stream, supervisor.clone(), stop.child_token()));
        }
        Err(error) => tracing::warn!(%error, "refused a connection of nobody knows whom"),
    }
}

async fn session(stream: UnixStream, supervisor: Supervisor, stop: CancellationToken) {
    let (reader, mut writer) = stream.into_split();
    let greeting = Greeting {
        coatepec: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id().cast_signed(),
    };
    let Ok(line) = serde_json::to_string(&greeting) else {
        return;
    };
    if writer.write_all(format!("{line}\n").as_bytes()).await.is_err() {
        return;
    }
    if let Err(error) = mcp::serve(supervisor, reader, writer, stop).await {
        tracing::warn!(%error, "a session failed");
    }
}

/// As long as the settings say at this moment.
async fn idle(supervisor: &Supervisor) {
    let root = supervisor.root().to_owned();
    let config = spawn_blocking(move || Config::load(&root).unwrap_or_default()).await;
    let seconds = config.unwrap_or_default().idle_timeout_seconds;
    sleep(Duration::from_secs(seconds)).await;
}

/// Each session ends its own calls.
async fn end(mut sessions: Sessions, stop: &CancellationToken) {
    stop.cancel();
    while sessions.join_next().await.is_some() {}
}

/// What this daemon has on disk.
struct Desk {
    place: Place,
    card: Card,
    /// Of the socket: another daemon's may lie there later.
    inode: Option<u64>,
}

impl Desk {
    fn open(place: Place, card: Card) -> Result<Desk> {
        dirs::write_fresh(&place.card(card.pid), &serde_json::to_vec(&card).unwrap_or_default())?;
        let inode = inode(&place);
        Ok(Desk { place, card, inode })
    }

    /// `None` while somebody is about to start a daemon here.
    fn lock(&self) -> Option<FileLock> {
        FileLock::try_at(self.place.lock(), FlockArg::LockExclusiveNonblock, self.place.name()).ok()
    }

    /// Nobody finds us any more. Under the lock only.
    fn clear(&self) {
        if inode(&self.place) == self.inode {
            let _ = fs::remove_file(self.place.socket());
            let _ = fs::remove_file(self.place.log());
        }
    }

    fn close(&self) {
        if let Some(_lock) = self.lock() {
            self.clear();
        }
        let _ = fs::remove_file(self.place.card(self.card.pid));
    }
}

fn inode(place: &Place) -> Option<u64> {
    fs::metadata(place.socket()).map(|found| found.ino()).ok()
}

/// Takes away what daemons left behind that were killed.
fn sweep() {
    for (path, card) in cards() {
        if card.is_alive() {
            continue;
        }
        let Some(name) = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.split('.').next())
        else {
            continue;
        };
        let _ = fs::remove_file(&path);
        if let Ok(place) = Place::named(name.to_owned()) {
            clear_if_deserted(&place);
        }
    }
}

fn clear_if_deserted(place: &Place) {
    let Ok(_lock) = FileLock::try_at(place.lock(), FlockArg::LockExclusiveNonblock, place.name()) else {
        return;
    };
    let deserted = std::os::unix::net::UnixStream::connect(place.socket())
        .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if deserted {
        let _ = fs::remove_file(place.socket());
        let _ = fs::remove_file(place.log());
    }
}
