//! Where Coatepec keeps what is its own, outside of any app.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use nix::unistd::getuid;

/// For sockets and locks, which mean nothing after a restart of the machine. Private to the user. At one place whatever
/// the environment says: an editor and a terminal of one user may have two of everything that it names, and have to meet.
///
/// # Errors
/// `PermissionDenied` when somebody else has made it.
pub fn runtime() -> io::Result<PathBuf> {
    private(PathBuf::from(format!("/tmp/coatepec-{}", getuid())))
}

/// For what is worth keeping: `$XDG_STATE_HOME/coatepec`, else `~/.local/state/coatepec`. Private to the user.
///
/// # Errors
/// When it can't be made, or when somebody else has made it.
pub fn state() -> io::Result<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    // A relative one is to be ignored, says the specification.
    let base = named.filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(std::env::home_dir()?.join(".local/state")));
    let base = base.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the user has no home"))?;
    fs::create_dir_all(&base)?;
    private(base.join("coatepec"))
}

fn private(dir: PathBuf) -> io::Result<PathBuf> {
    match fs::create_dir(&dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(&dir)?;
    if !found.is_dir() || found.uid() != getuid().as_raw() {
        let message = format!("`{}` is not ours", dir.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
    }
    Ok(dir)
}
