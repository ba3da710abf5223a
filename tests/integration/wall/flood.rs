//! Who connects again and again to a server that does not answer takes no more of the keeper than there is for it, and leaves
//! nothing of that behind.

use std::fs;
use std::os::fd::AsRawFd;

use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket};

use crate::support::{App, Server, eventually};

const SPEC: &str = "spec/flood_spec.rb";

#[test]
fn connections_that_nobody_waits_for_any_more_leave_no_threads() {
    let app = App::copy();
    let server = app.server();
    app.write(SPEC, include_str!("flood_spec.rb"));
    // Outlives the run, and takes nobody after the first.
    let full = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).expect("it can be made");
    let address = UnixAddr::new(&app.path("tmp/full")).expect("it is short");
    bind(full.as_raw_fd(), &address).expect("nothing is there");
    listen(&full, Backlog::new(0).expect("it is small")).expect("it is bound");
    let report = server.run([SPEC]);
    assert_eq!(report["outcome"], "passed", "{report}");
    eventually("each keeper has one thread", || (threads(&server) == [1]).then_some(()));
    server.end();
}

/// Of each keeper.
fn threads(server: &Server) -> Vec<usize> {
    let keepers = server
        .processes()
        .into_iter()
        .filter(|proc| proc.command.contains("__jail"));
    let count = |pid: i32| fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    keepers.map(|keeper| count(keeper.pid)).collect()
}
