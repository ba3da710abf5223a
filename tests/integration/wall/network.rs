//! Whom a run may talk to. What is outside is played by another address of this machine, where a server of the test listens.

use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::thread;

use serde_json::{Value, json};

use super::check;
use crate::support::{App, Deviations};

const SPEC: &str = "spec/network_spec.rb";

/// To an address outside.
const OUTWARD: &[&str] = &[
    "connects",
    "connects_by_a_mapped_address",
    "connects_without_blocking",
    "sends_a_datagram",
    "sends_a_datagram_by_a_mapped_address",
    "connects_for_datagrams",
    "asks_a_resolver",
    "joins_a_group",
    "joins_a_group_of_a_source",
];

/// What only root may do where all is allowed.
const OF_ROOT: &[&str] = &["makes_a_raw_socket", "leaves_the_device"];

const WITHIN: &[&str] = &[
    "connects_here",
    "connects_to_the_unspecified",
    "connects_by_name",
    "connects_many_times_at_once",
    "serves",
    "sends_a_datagram_here",
    "waits_in_vain_for_a_while",
    "is_refused_by_who_is_not_there",
];

const UNIX: &[&str] = &["talks_to_a_unix_socket", "pairs_sockets"];

/// An address of this machine that is none of loopback; nothing is sent to find it.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("203.0.113.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback())
}

/// Listens on all addresses, as a database does.
fn listen() -> SocketAddr {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || listener.incoming().for_each(drop));
    address
}

/// What came of each act, and the report.
fn talk(settings: &str) -> Option<(Value, Value, SocketAddr)> {
    let outside = own_address()?;
    let app = App::copy();
    let port = listen().port();
    let path = app.beside("database.sock");
    let _unix = UnixListener::bind(&path).expect("nothing is there");
    app.setting(settings);
    app.write(SPEC, include_str!("network_spec.rb"));
    app.write(
        "tmp/facts.json",
        json!({"outside": outside, "port": port, "path": path}).to_string(),
    );
    let server = app.server();
    let report = server.run([SPEC]);
    assert_eq!(report["outcome"], "passed", "{report}");
    let came_of = serde_json::from_str(&app.read("tmp/came_of.json")).expect("it is JSON");
    server.end();
    Some((came_of, report, (outside, port).into()))
}

#[test]
fn the_network_may_be_this_machine() {
    let Some((came_of, report, outside)) = talk("sandbox: {network: loopback}") else {
        return;
    };
    let mut wrong = Deviations::default();
    check(&mut wrong, "loopback", &came_of, &[OUTWARD, OF_ROOT].concat(), false);
    check(&mut wrong, "loopback", &came_of, &[WITHIN, UNIX].concat(), true);
    wrong.equal("as without a network", &came_of["connects"], "Errno::ENETUNREACH");

    let refused = report["refused"].as_array().cloned().unwrap_or_default();
    let first = refused.first().cloned().unwrap_or_default();
    wrong.equal("what", &first["what"], outside.to_string().as_str());
    wrong.equal("where", &first["example"], format!("{SPEC}[1:1]").as_str());
    wrong.equal("kind", &first["kind"], "network");
    wrong.check(refused.len() >= OUTWARD.len(), || {
        format!("not all are told: {refused:?}")
    });
    wrong.equal(
        "in full",
        report["sandbox"].as_str().map(|line| line.contains("network")),
        Some(false),
    );
    wrong.none();
}

#[test]
fn the_network_may_be_none() {
    let Some((came_of, report, _)) = talk("sandbox: {network: none}") else {
        return;
    };
    let mut wrong = Deviations::default();
    check(
        &mut wrong,
        "none",
        &came_of,
        &[OUTWARD, &["connects_here", "serves"], OF_ROOT].concat(),
        false,
    );
    check(&mut wrong, "none", &came_of, UNIX, true);
    wrong.equal("told", &report["refused"][0]["what"], "an internet socket");
    wrong.none();
}

#[test]
fn the_network_is_open_unless_it_is_closed() {
    let Some((came_of, report, _)) = talk("sandbox: {mode: off}") else {
        return;
    };
    let mut wrong = Deviations::default();
    check(&mut wrong, "allow", &came_of, &[OUTWARD, WITHIN, UNIX].concat(), true);
    if super::is_mighty() {
        check(&mut wrong, "allow", &came_of, OF_ROOT, true);
    }
    wrong.equal("nothing", report["refused"].clone(), Value::Null);
    wrong.none();
}
