//! The server keeps nothing on disk: it works without a place for temporary files, and with one that is full.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, Setup};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// Does not need a temporary file. (Ruby itself falls back on /tmp for one.)
#[test]
fn a_temp_dir_that_is_none_keeps_nothing_from_running() {
    let app = App::copy();
    let nowhere = app.beside("nowhere");
    let file = app.beside("file");
    std::fs::write(&file, "no directory").expect("it can be written");
    let mut wrong = Deviations::default();
    for place in [nowhere, file] {
        let place = place.display().to_string();
        let server = app.server_with(Setup::default().env("TMPDIR", &place).without_env("XDG_RUNTIME_DIR"));
        all_is_as_ever(&mut wrong, &server, &place);
        server.stop();
    }
    wrong.none();
}

/// A file system of 64 KiB of its own, without a byte left, for temporary files and for the locks.
#[test]
#[ignore = "mounts a file system, which needs user namespaces"]
fn soak_a_temp_dir_that_is_full_keeps_nothing_from_running() {
    const FILL: &str = r#"
dir = ENV.fetch("TMPDIR")
mount = Fiddle::Function.new(Fiddle::Handle::DEFAULT["mount"], [Fiddle::TYPE_VOIDP] * 3 + [Fiddle::TYPE_LONG, Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT)
mount.call("none", dir, "tmpfs", 0, "size=64k").zero? or abort "failed to mount"
all = File.open(File.join(dir, "all"), "w")
begin
  loop { all.syswrite("all") }
rescue Errno::ENOSPC
  exec(*ARGV)
end
"#;
    let app = App::copy();
    let through = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "ruby",
        "-rfiddle",
        "-e",
        FILL,
    ];
    let setup = Setup::default().without_env("XDG_RUNTIME_DIR").through(&through);
    let server = app.server_with(setup);
    let mut wrong = Deviations::default();
    all_is_as_ever(&mut wrong, &server, "full");
    let full = r#"
RSpec.describe "A temp dir that is full" do
  it("is full") { expect { File.write(File.join(ENV.fetch("TMPDIR"), "one"), "more" * 2_000) }.to raise_error(Errno::ENOSPC) }
end
"#;
    app.write("spec/full_spec.rb", full);
    wrong.equal("it was full", &server.run(["spec/full_spec.rb"])["outcome"], "passed");
    wrong.none();
    server.stop();
}

fn all_is_as_ever(wrong: &mut Deviations, server: &Server, what: &str) {
    let expected = [
        (SPEC, "passed"),
        ("spec/faults/fails_spec.rb", "failed"),
        ("spec/faults/segfaults_spec.rb", "crashed"),
    ];
    for (path, outcome) in expected {
        for fork in ["auto", "never"] {
            let report: Value = server.run_with([path], json!({"fork": fork}));
            wrong.check(report["outcome"] == outcome, || {
                format!("{what}: {path} {fork}: {report}")
            });
        }
    }
    let left = server.beside_the_warm_tree();
    wrong.check(left.is_empty(), || format!("{what}: left: {left:?}"));
}
