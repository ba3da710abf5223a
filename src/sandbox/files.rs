//! Files, signals and other processes, by Landlock: the kernel checks every path for itself, so that no symbolic link,
//! no rename and no race leads around it.

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::enforcement::{Name, Part};
use super::grants::{self, Disk};
use super::policy::Files;

/// What we know the effects of. A kernel that has less does what it can.
const KNOWN: ABI = ABI::V7;

/// Since this version a file can't be cut off without the right to write it.
const TRUNCATES: ABI = ABI::V3;
/// Since this version signals are kept inside.
const SIGNALS: ABI = ABI::V6;

/// Takes from this process, for good, what is not granted. Says how much of it this kernel enforces.
pub(super) fn restrict(files: &Files) -> Vec<Part> {
    match enforce(files) {
        Ok(status) => vec![filesystem(files, &status), signals(abi(&status))],
        Err(error) => {
            let why = format!("failed to restrict: {error}");
            vec![Part::none(Name::Filesystem, &why), Part::none(Name::Signals, &why)]
        }
    }
}

fn enforce(files: &Files) -> Result<RestrictionStatus, RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?;
    // The names of all files may be listed: programs look around, and one can't grant that of a directory alone.
    let rules = grant(rules, "/", AccessFs::ReadDir.into())?;
    let read = grants::paths(&files.read, &Disk).into_iter();
    let rules = read
        .map(|path| (path, AccessFs::from_read(KNOWN)))
        .try_fold(rules, grant_pair)?;
    let write = grants::paths(&files.write, &Disk).into_iter();
    let rules = write.map(|path| (path, written())).try_fold(rules, grant_pair)?;
    rules.restrict_self()
}

/// For whoever connects in the stead of a process that is restricted: abstract sockets of processes outside of it stay
/// out of its reach, and in that of nobody it starts. Where the kernel has no such scope, that has none either.
pub(crate) fn keep_to_abstract_sockets_within() {
    let _ = scope_abstract_sockets();
}

fn scope_abstract_sockets() -> Result<RestrictionStatus, RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        // What no ruleset speaks of is allowed, but for this.
        .handle_access(AccessFs::Refer)?
        .scope(Scope::AbstractUnixSocket)?
        .create()?;
    grant(rules, "/", AccessFs::Refer.into())?.restrict_self()
}

/// All but devices: a device of one's own making would be a way to the disk.
fn written() -> BitFlags<AccessFs> {
    AccessFs::from_all(KNOWN) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

fn grant_pair(
    rules: RulesetCreated,
    (path, access): (std::path::PathBuf, BitFlags<AccessFs>),
) -> Result<RulesetCreated, RulesetError> {
    grant(rules, path, access)
}

/// What is not there, or no more, needs no rule.
fn grant(
    rules: RulesetCreated,
    path: impl AsRef<std::path::Path>,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path.as_ref()) else {
        return Ok(rules);
    };
    let access = match path.as_ref().is_dir() {
        true => access,
        false => access & AccessFs::from_file(KNOWN),
    };
    rules.add_rule(PathBeneath::new(opened, access))
}

fn abi(status: &RestrictionStatus) -> ABI {
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => ABI::Unsupported,
    }
}

fn filesystem(files: &Files, status: &RestrictionStatus) -> Part {
    match (abi(status), open(files)) {
        (ABI::Unsupported, _) => Part::none(
            Name::Filesystem,
            "this kernel has no Landlock, or does not let us use it",
        ),
        (abi, _) if abi < TRUNCATES => Part::partial(
            Name::Filesystem,
            "this kernel's Landlock lets files be cut off (Linux 6.2 would not)",
        ),
        (_, Some(open)) => Part::partial(Name::Filesystem, open),
        (_, None) => Part::full(Name::Filesystem),
    }
}

/// What is not protected since it lies in a place that is written to.
fn open(files: &Files) -> Option<String> {
    let app = files.open_around_root.as_deref();
    let app = app.map(|place| {
        format!(
            "the app lies in {}, which is writable, and its .git with it",
            place.display()
        )
    });
    let home = files.open_around_home.as_deref();
    let home = home.map(|place| {
        format!(
            "the home lies in {}, which is open to tests, and its keys with it",
            place.display()
        )
    });
    let open: Vec<String> = app.into_iter().chain(home).collect();
    (!open.is_empty()).then(|| open.join("; "))
}

fn signals(abi: ABI) -> Part {
    match abi {
        ABI::Unsupported => Part::none(Name::Signals, "this kernel has no Landlock, or does not let us use it"),
        abi if abi < SIGNALS => Part::partial(
            Name::Signals,
            "other processes can't be traced, but signalled (Linux 6.12 would keep signals inside)",
        ),
        _ => Part::full(Name::Signals),
    }
}
