//! Where Coatepec keeps what is its own, outside of any app.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::getuid;

/// The most that is read of a file that others may have written, in bytes.
const MOST: u64 = 64 * 1024;

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

/// A new file in [`runtime`], in place of whatever lies there: tests may write to that directory, and must not choose
/// what we overwrite by a symbolic link.
///
/// # Errors
/// When it can't be made; `AlreadyExists` when somebody was faster.
pub fn fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::options().write(true).create_new(true).mode(0o600).open(path),
    }
}

/// As [`fresh`], with this text.
///
/// # Errors
/// As there.
pub fn write_fresh(path: &Path, text: &[u8]) -> io::Result<()> {
    fresh(path)?.write_all(text)
}

/// Reads a file in [`runtime`], if it is one: nothing that tests put there makes us wait, or read elsewhere.
///
/// # Errors
/// When it can't be read, is no file, or is too large.
pub fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no file of ours"));
    }
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text)?;
    Ok(text)
}
