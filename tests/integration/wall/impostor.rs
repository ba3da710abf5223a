//! Who poses as the server that clients share is not believed.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use coatepec::daemon::place::cards;
use coatepec::process::procfs::stat;
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::victim;
use crate::support::{App, Deviations, Setup, eventually};

const SPEC: &str = "spec/impostor_spec.rb";

const FILE: &str = "export PATH";

#[test]
fn no_client_believes_a_test_that_poses_as_the_server() {
    let mut wrong = Deviations::default();
    for again in [false, true] {
        let what = if again { "again and again" } else { "once" };
        let app = App::copy();
        let server = app.server_with(Setup::default().shared());
        let (card, ours) = cards(app.root()).remove(0);
        let name = card.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let socket = card.with_file_name(format!("{}.sock", name.split('.').next().unwrap_or_default()));
        let file = app.beside("profile");
        fs::write(&file, FILE).expect("it can be written");
        let mut somebody = victim();
        let process = Pid::from_raw(somebody.0.id().cast_signed());
        let posed = json!({
            "pid": process.as_raw(),
            "start": stat(process).expect("it runs").id.start,
            "version": ours.version,
            "root": ours.root,
        });
        app.write(SPEC, include_str!("impostor_spec.rb"));
        app.write(
            "tmp/facts.json",
            json!({"socket": socket, "file": file, "card": posed, "again": again}).to_string(),
        );
        let call = server.begin([SPEC], json!({}));
        eventually("it poses", || app.path("tmp/poses").exists().then_some(()));
        let printed = app.coatepec_shared(&["status", "--json"]);
        let status: Value = serde_json::from_str(&printed.out).unwrap_or_default();
        let served = printed.code == Some(0) && status.is_object();
        let refused = printed.code == Some(2) && printed.err.contains("[server_usurped]");
        wrong.check(served || (again && refused), || format!("{what}: {printed:?}"));
        let stopped = app.coatepec_shared(&["stop"]);
        app.write("tmp/enough", "");
        let _ = call.wait();
        wrong.equal(&format!("{what}: stop"), stopped.code, Some(0));
        wrong.check(matches!(somebody.0.try_wait(), Ok(None)), || {
            format!("{what}: whom a card named was ended")
        });
        wrong.equal(
            &format!("{what}: a file"),
            fs::read_to_string(&file).unwrap_or_default(),
            FILE,
        );
        if let Ok(heard) = fs::read_to_string(app.path("tmp/heard.json")) {
            wrong.equal(what, heard.as_str(), "[]");
        }
        let fifo = card.with_file_name(format!("{}.1.json", name.split('.').next().unwrap_or_default()));
        if fs::symlink_metadata(&fifo).is_ok_and(|found| found.file_type().is_fifo()) {
            let _ = fs::remove_file(fifo);
        }
        server.end();
    }
    wrong.none();
}
