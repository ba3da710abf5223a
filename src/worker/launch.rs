//! How a Ruby of ours is started: the embedded code, the command line, the environment, the descriptors.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use tokio::net::unix::{OwnedReadHalf, pipe};

use super::environment::Variables;
use super::protocol::RunRequest;
use super::ruby::RubyCommand;
use crate::process::channel::{self, Sender};
use crate::process::fds;
use crate::process::lines::LineReader;
use crate::process::spawn::Launch;
use crate::sandbox::Policy;

/// The Ruby side by file name, as its backtraces name it.
const SOURCES: &[(&str, &str)] = &[
    ("worker.rb", include_str!("../../worker.rb")),
    ("worker/ahead.rb", include_str!("../../worker/ahead.rb")),
    ("worker/app.rb", include_str!("../../worker/app.rb")),
    ("worker/boot.rb", include_str!("../../worker/boot.rb")),
    ("worker/child.rb", include_str!("../../worker/child.rb")),
    ("worker/compiled.rb", include_str!("../../worker/compiled.rb")),
    ("worker/coverage.rb", include_str!("../../worker/coverage.rb")),
    ("worker/databases.rb", include_str!("../../worker/databases.rb")),
    ("worker/failure.rb", include_str!("../../worker/failure.rb")),
    ("worker/fork.rb", include_str!("../../worker/fork.rb")),
    ("worker/guard.rb", include_str!("../../worker/guard.rb")),
    ("worker/json.rb", include_str!("../../worker/json.rb")),
    ("worker/line_coverage.rb", include_str!("../../worker/line_coverage.rb")),
    ("worker/statements.rb", include_str!("../../worker/statements.rb")),
    (
        "worker/memory_database.rb",
        include_str!("../../worker/memory_database.rb"),
    ),
    ("worker/minitest.rb", include_str!("../../worker/minitest.rb")),
    (
        "worker/minitest_catalogue.rb",
        include_str!("../../worker/minitest_catalogue.rb"),
    ),
    (
        "worker/minitest_selection.rb",
        include_str!("../../worker/minitest_selection.rb"),
    ),
    ("worker/plain.rb", include_str!("../../worker/plain.rb")),
    ("worker/profile.rb", include_str!("../../worker/profile.rb")),
    ("worker/patterns.rb", include_str!("../../worker/patterns.rb")),
    ("worker/questions.rb", include_str!("../../worker/questions.rb")),
    ("worker/reader.rb", include_str!("../../worker/reader.rb")),
    ("worker/reading.rb", include_str!("../../worker/reading.rb")),
    (
        "worker/reading/association.rb",
        include_str!("../../worker/reading/association.rb"),
    ),
    (
        "worker/reading/attempts.rb",
        include_str!("../../worker/reading/attempts.rb"),
    ),
    (
        "worker/reading/callbacks.rb",
        include_str!("../../worker/reading/callbacks.rb"),
    ),
    ("worker/reading/check.rb", include_str!("../../worker/reading/check.rb")),
    (
        "worker/reading/check_models.rb",
        include_str!("../../worker/reading/check_models.rb"),
    ),
    (
        "worker/reading/check_routes.rb",
        include_str!("../../worker/reading/check_routes.rb"),
    ),
    (
        "worker/reading/check_sources.rb",
        include_str!("../../worker/reading/check_sources.rb"),
    ),
    (
        "worker/reading/controller.rb",
        include_str!("../../worker/reading/controller.rb"),
    ),
    (
        "worker/reading/database.rb",
        include_str!("../../worker/reading/database.rb"),
    ),
    (
        "worker/reading/declared.rb",
        include_str!("../../worker/reading/declared.rb"),
    ),
    ("worker/reading/job.rb", include_str!("../../worker/reading/job.rb")),
    ("worker/reading/model.rb", include_str!("../../worker/reading/model.rb")),
    ("worker/reading/names.rb", include_str!("../../worker/reading/names.rb")),
    (
        "worker/reading/unloaded.rb",
        include_str!("../../worker/reading/unloaded.rb"),
    ),
    (
        "worker/reading/outside.rb",
        include_str!("../../worker/reading/outside.rb"),
    ),
    ("worker/reading/page.rb", include_str!("../../worker/reading/page.rb")),
    ("worker/reading/place.rb", include_str!("../../worker/reading/place.rb")),
    (
        "worker/reading/route_table.rb",
        include_str!("../../worker/reading/route_table.rb"),
    ),
    (
        "worker/reading/routes.rb",
        include_str!("../../worker/reading/routes.rb"),
    ),
    (
        "worker/reading/schema.rb",
        include_str!("../../worker/reading/schema.rb"),
    ),
    (
        "worker/reading/tables.rb",
        include_str!("../../worker/reading/tables.rb"),
    ),
    ("worker/reading/text.rb", include_str!("../../worker/reading/text.rb")),
    ("worker/record.rb", include_str!("../../worker/record.rb")),
    ("worker/refusals.rb", include_str!("../../worker/refusals.rb")),
    ("worker/rspec.rb", include_str!("../../worker/rspec.rb")),
    ("worker/tables.rb", include_str!("../../worker/tables.rb")),
    ("worker/traces.rb", include_str!("../../worker/traces.rb")),
    ("worker/wire.rb", include_str!("../../worker/wire.rb")),
    ("worker/worker.rb", include_str!("../../worker/worker.rb")),
    ("worker/zygote.rb", include_str!("../../worker/zygote.rb")),
];

/// Reads the code from its descriptor and starts it: nothing of ours is on the app's disk, load path or bundle.
const BOOTSTRAP: &str = concat!(
    r#"sources = IO.for_fd(ENV.delete("COATEPEC_CODE_FD").to_i).tap { |io| io.set_encoding("UTF-8") }.read"#,
    r#".split("\0").each_slice(2).to_h; "#,
    r#"eval(sources.fetch("worker.rb"), TOPLEVEL_BINDING, "coatepec/worker.rb", 1); Coatepec.start(sources)"#
);

/// High and fixed, out of the way of what version managers and Bundler open on their way to Ruby.
const CODE_FD: i32 = 100;
const SOCKET_FD: i32 = 101;
const EVENTS_FD: i32 = 102;
const REQUEST_FD: i32 = 103;

/// Everything a Ruby of this app is started with.
#[derive(Debug, Clone)]
pub struct Plan {
    pub root: PathBuf,
    pub ruby: RubyCommand,
    /// The complete environment; nothing is inherited.
    pub env: Variables,
    pub policy: Policy,
}

/// The supervisor's ends of a worker.
#[derive(Debug)]
pub struct WorkerPipes {
    pub sender: Sender,
    pub reader: LineReader<OwnedReadHalf>,
    pub stdout: pipe::Receiver,
    pub stderr: pipe::Receiver,
}

/// The supervisor's ends of a run in a fresh process.
#[derive(Debug)]
pub struct SpawnPipes {
    pub stdout: pipe::Receiver,
    pub stderr: pipe::Receiver,
    pub events: pipe::Receiver,
}

/// Which build of the Ruby side is embedded here.
pub fn code_hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let digest = Sha256::digest(code());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    })
}

impl Plan {
    pub fn worker(&self) -> io::Result<(Launch, WorkerPipes)> {
        let (sender, reader, socket) = channel::pair()?;
        let (stdout, out) = fds::pipe()?;
        let (stderr, err) = fds::pipe()?;
        let extra = [("COATEPEC_SOCKET_FD", SOCKET_FD.to_string())];
        let fds = vec![(socket, SOCKET_FD), (out, 1), (err, 2)];
        let launch = self.launch("worker", &extra, fds)?;
        Ok((
            launch,
            WorkerPipes {
                sender,
                reader,
                stdout,
                stderr,
            },
        ))
    }

    pub fn spawn(&self, request: &RunRequest) -> io::Result<(Launch, SpawnPipes)> {
        let (stdout, out) = fds::pipe()?;
        let (stderr, err) = fds::pipe()?;
        let (events, records) = fds::pipe()?;
        let body = serde_json::to_vec(request).expect("a request is plain data");
        let body = fds::sealed_memfd("coatepec-request", &body)?;
        let extra = [
            ("COATEPEC_EVENTS_FD", EVENTS_FD.to_string()),
            ("COATEPEC_REQUEST_FD", REQUEST_FD.to_string()),
        ];
        let fds = vec![(records, EVENTS_FD), (body, REQUEST_FD), (out, 1), (err, 2)];
        let launch = self.launch("spawn", &extra, fds)?;
        Ok((launch, SpawnPipes { stdout, stderr, events }))
    }

    fn launch(&self, role: &str, extra: &[(&str, String)], mut fds: Vec<(OwnedFd, i32)>) -> io::Result<Launch> {
        fds.push((fds::sealed_memfd("coatepec-code", &code())?, CODE_FD));
        let mut env = self.env.clone();
        for (name, value) in &self.ruby.env {
            match value {
                Some(value) => env.insert(name.clone(), value.clone()),
                None => env.remove(name),
            };
        }
        env.insert("COATEPEC_ROLE".into(), role.into());
        env.insert("COATEPEC_CODE_FD".into(), CODE_FD.to_string().into());
        env.insert("COATEPEC_CODE_HASH".into(), code_hash().into());
        env.extend(
            extra
                .iter()
                .map(|(name, value)| (OsString::from(name), OsString::from(value))),
        );
        let mut argv = self.ruby.argv.clone();
        argv.extend(["-e".into(), BOOTSTRAP.into()]);
        let env = env.into_iter().collect();
        Ok(Launch {
            argv,
            cwd: self.root.clone(),
            env,
            fds,
            policy: self.policy.clone(),
        })
    }
}

/// Names and contents in turn, separated by NUL, which neither contains.
fn code() -> Vec<u8> {
    SOURCES
        .iter()
        .flat_map(|(name, code)| [name.as_bytes(), b"\0", code.as_bytes(), b"\0"])
        .flatten()
        .copied()
        .collect()
}
