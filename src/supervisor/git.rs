//! What Git says was changed. The repository is not trusted: whatever its configuration could have Git start is turned off,
//! and Git itself runs below a keeper, in the sandbox of the app.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::setup::{Confined, Setup};
use crate::error::{Error, Kind, Result};
use crate::process::fds;
use crate::process::keeper::Exit;
use crate::process::spawn::{self, Launch};
use crate::project::Lines;
use crate::project::diff::{self, ChangedFile, ChangedLines};

/// How long one question to Git may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Bytes of an answer.
const MOST: u64 = 16 * 1024 * 1024;

/// Bytes of what Git says when it fails.
const COMPLAINT: u64 = 4 * 1024;

/// Characters of the name of a commit.
const REF: usize = 200;

/// What is turned off, whoever turned it on: hooks, and programs that Git would start by itself.
const OFF: [(&str, &str); 6] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.quotePath", "false"),
    ("diff.external", ""),
    ("credential.helper", ""),
];

/// Nothing is written, asked or fetched.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PAGER", "cat"),
];

/// How each diff is told, whatever the configuration says.
const DIFF: [&str; 10] = [
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=all",
    "--relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--inter-hunk-context=0",
    "-U0",
];

/// The repository that the app is in.
#[derive(Debug)]
pub(super) struct Git {
    confined: Confined,
    /// Settings beside [`OFF`]: filters, whose names only the repository knows.
    filters: Vec<String>,
}

/// A commit that changes are told against.
#[derive(Debug, Clone)]
pub(super) struct Base(String);

struct Said {
    exit: Exit,
    out: Vec<u8>,
    err: String,
}

impl Git {
    /// # Errors
    /// `GitUnavailable`: there is no Git, or it could not tell.
    pub(super) async fn open(setup: &Setup) -> Result<Git> {
        let mut git = Git {
            confined: setup.confined(),
            filters: Vec::new(),
        };
        git.filters = git.filters().await?;
        Ok(git)
    }

    /// Where the branch that is checked out left `reference`; the commit itself if they have nothing in common.
    ///
    /// # Errors
    /// `RefNotFound`; `GitUnavailable` where there is no repository, or no commit yet.
    pub(super) async fn base(&self, reference: &str) -> Result<Base> {
        let commit = self.commit(reference).await?;
        let common = self.ask(&["merge-base", &commit.0, "HEAD"]).await?;
        let common = String::from_utf8_lossy(&common.out).trim().to_owned();
        Ok(if is_hash(&common) { Base(common) } else { commit })
    }

    async fn commit(&self, reference: &str) -> Result<Base> {
        let odd = |c: char| c.is_control() || c.is_whitespace();
        let unknown = || {
            let shown: String = reference.chars().filter(|c| !c.is_control()).take(REF).collect();
            let message = format!("`{shown}` names no commit of the repository");
            Error::new(Kind::RefNotFound, message).hint("name a branch, a tag or a commit, such as `main` or `HEAD~3`")
        };
        if reference.is_empty() || reference.len() > REF || reference.starts_with('-') || reference.contains(odd) {
            return Err(unknown());
        }
        let said = self
            .ask(&[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &format!("{reference}^{{commit}}"),
            ])
            .await?;
        let commit = String::from_utf8_lossy(&said.out).trim().to_owned();
        match (said.exit, is_hash(&commit)) {
            (Exit::Code(0), true) => Ok(Base(commit)),
            _ if !said.err.is_empty() => Err(said.complaint()),
            _ if reference == "HEAD" => {
                Err(unavailable("the repository has no commit yet").hint("commit once, or name the files instead"))
            }
            _ => Err(unknown()),
        }
    }

    /// Lines that differ from `base` in files that are there, below the app; of files that Git doesn't know, all.
    ///
    /// # Errors
    /// `GitUnavailable`.
    pub(super) async fn changed_lines(&self, base: &Base) -> Result<Vec<ChangedLines>> {
        let diff = [&DIFF[..], &["--find-renames", &base.0, "--"]].concat();
        let diff = self.answer(&diff).await?;
        let mut changed = diff::lines(&String::from_utf8_lossy(&diff));
        let all = || Lines::from_iter([(1, u32::MAX)]);
        let new = self.untracked().await?.into_iter();
        changed.extend(new.map(|path| ChangedLines { path, lines: all() }));
        Ok(changed)
    }

    /// Files that differ from `base`, those that are gone and those that Git doesn't know included.
    ///
    /// # Errors
    /// `GitUnavailable`.
    pub(super) async fn changed_files(&self, base: &Base) -> Result<Vec<ChangedFile>> {
        let list = [&DIFF[..], &["--no-renames", "--name-status", "-z", &base.0, "--"]].concat();
        let list = self.answer(&list).await?;
        let mut changed = diff::files(&String::from_utf8_lossy(&list));
        let new = self.untracked().await?.into_iter();
        changed.extend(new.map(|path| ChangedFile { path, deleted: false }));
        Ok(changed)
    }

    async fn untracked(&self) -> Result<Vec<String>> {
        let list = self
            .answer(&["ls-files", "--others", "--exclude-standard", "-z"])
            .await?;
        let list = String::from_utf8_lossy(&list);
        Ok(list.split_terminator('\0').map(str::to_owned).collect())
    }

    /// Names of filters, each of which is a command that a diff would start.
    async fn filters(&self) -> Result<Vec<String>> {
        let said = self
            .ask(&["config", "--null", "--name-only", "--get-regexp", r"^filter\."])
            .await?;
        let keys = String::from_utf8_lossy(&said.out);
        let name = |key: &str| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
        let mut names: Vec<String> = keys.split_terminator('\0').filter_map(name).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    async fn answer(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let said = self.ask(arguments).await?;
        match said.exit {
            Exit::Code(0) => Ok(said.out),
            _ => Err(said.complaint()),
        }
    }

    async fn ask(&self, arguments: &[&str]) -> Result<Said> {
        let asked = timeout(LIMIT, self.run(arguments)).await;
        let late = |_| {
            unavailable(&format!("Git did not answer within {} s", LIMIT.as_secs()))
                .hint("name the files instead of having Git asked")
        };
        asked.map_err(late)?
    }

    async fn run(&self, arguments: &[&str]) -> Result<Said> {
        let (out, stdout) = fds::pipe()?;
        let (err, stderr) = fds::pipe()?;
        let launch = self.launch(arguments, vec![(stdout, 1), (stderr, 2)]);
        let not_started = |why: &dyn std::fmt::Display| {
            unavailable(&format!("Git could not be started: {why}"))
                .hint("install Git where the server's PATH has it, or name the files instead")
        };
        let kept = spawn::spawn(launch).map_err(|why| not_started(&why))?;
        kept.started().await.map_err(|why| not_started(&why))?;
        let (out, err) = tokio::join!(read(out, MOST), read(err, COMPLAINT));
        let out = out?;
        if out.len() as u64 > MOST {
            return Err(unavailable("Git has more to say than is read").hint("name the files instead"));
        }
        Ok(Said {
            exit: kept.exited().await,
            out,
            err: String::from_utf8_lossy(&err?).into_owned(),
        })
    }

    fn launch(&self, arguments: &[&str], fds: Vec<(std::os::fd::OwnedFd, i32)>) -> Launch {
        let mut argv: Vec<OsString> = vec!["git".into(), "--no-pager".into()];
        argv.extend(arguments.iter().map(OsString::from));
        Launch {
            argv,
            cwd: self.confined.root.clone(),
            env: self.environment(),
            fds,
            policy: self.confined.policy.clone(),
        }
    }

    /// Settings travel in the environment, where any name can be said.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let all = self.confined.env.iter();
        let mut env: Vec<(OsString, OsString)> = all
            .filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"GIT_") && *name != "LC_ALL")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let off = OFF.iter().map(|(key, value)| ((*key).to_owned(), *value));
        let filters = self.filters.iter().flat_map(|name| {
            [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
                .map(|(part, value)| (format!("filter.{name}.{part}"), value))
        });
        let settings: Vec<(String, &str)> = off.chain(filters).collect();
        env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
        for (at, (key, value)) in settings.into_iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{at}").into(), key.into()));
            env.push((format!("GIT_CONFIG_VALUE_{at}").into(), value.into()));
        }
        env.extend(ENVIRONMENT.map(|(name, value)| (name.into(), value.into())));
        env
    }
}

/// A little more than the most, if there is more.
async fn read(pipe: pipe::Receiver, most: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    pipe.take(most + 1).read_to_end(&mut read).await?;
    Ok(read)
}

fn is_hash(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Said {
    fn complaint(&self) -> Error {
        let first = self
            .err
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("nothing");
        if first.contains("not a git repository") {
            return unavailable("the app is in no Git repository that can be read")
                .hint("name the files instead of having Git asked");
        }
        let owner = first.contains("dubious ownership");
        let hint = match owner {
            true => "the repository is somebody else's; Git wants its directory in `safe.directory`",
            false => "name the files instead of having Git asked",
        };
        unavailable(&format!("Git failed: {}", first.trim())).hint(hint)
    }
}

fn unavailable(message: &str) -> Error {
    Error::new(Kind::GitUnavailable, message)
}
