//! Boots that do more than to load an app: listen, write what they read, start threads, want everything loaded, keep
//! what Rails will replace.

use std::net::{Ipv4Addr, TcpListener};

use serde_json::{Value, json};

use crate::support::{App, Deviations, Setup, eventually, has_text, see};

const SPEC: &str = "spec/services/price_list_spec.rb";

fn listen(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// The worker listens as the app would; nobody else does, and what boots beside it can listen, too.
#[test]
fn a_port_that_the_boot_listens_on_is_held_by_nobody_but_the_warm_app() {
    let app = App::copy();
    let port = listen(0)
        .and_then(|free| free.local_addr())
        .expect("a port is free")
        .port();
    app.write(
        "config/initializers/metrics.rb",
        format!(
            r#"
require "socket"
$metrics = TCPServer.new("127.0.0.1", {port})
Thread.new {{ loop {{ $metrics.accept.close }} }}.name = "metrics"
unix = Socket.unix_server_socket("tmp/metrics.sock")
Socket.for_fd(unix.fileno).autoclose = false
unix.autoclose = false
unix = nil
"#
        ),
    );
    app.write(
        "spec/held_spec.rb",
        r#"
RSpec.describe "A spec that stays" do
  it "waits" do
    File.write("tmp/held", "")
    sleep 0.01 until File.exist?("tmp/go")
  end
end
"#,
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let sockets = "Dir.children('/proc/self/fd').filter_map { |fd| Socket.for_fd(fd.to_i).tap { |s| s.autoclose = false }.getsockopt(:SOCKET, :ACCEPTCONN).bool rescue nil }.count(true)";
    let (seen, report) = see(&app, &server, sockets);
    wrong.check(seen == "0" && report["mode"] == "fork", || {
        format!("a fork listens: {report}")
    });
    let listening = server.status()["listening"].to_string();
    wrong.check(
        listening.contains(&format!("port {port}")) && listening.contains("tmp/metrics.sock"),
        || format!("what the status knows: {listening}"),
    );
    wrong.check(listen(port).is_err(), || "the warm app does not listen".into());

    std::fs::remove_file(app.path("tmp/metrics.sock")).expect("it is there");
    let spawned = server.run_with(["spec/probe_spec.rb"], json!({"fork": "never"}));
    wrong.check(spawned["outcome"] == "passed", || {
        format!("beside the warm app: {spawned}")
    });
    let _ = std::fs::remove_file(app.path("tmp/metrics.sock"));
    let forked = server.run([SPEC]);
    wrong.check(forked["outcome"] == "passed" && forked["mode"] == "fork", || {
        format!("{forked}")
    });
    wrong.check(has_text(&forked["trigger"], &format!("port {port}")), || {
        format!("why it was booted again: {forked}")
    });

    let held = server.begin(["spec/held_spec.rb"], json!({}));
    eventually("a run is under way", || app.path("tmp/held").exists().then_some(()));
    server.close_stdin();
    server.wait();
    eventually("the port is free", || listen(port).ok());
    drop(held);
    wrong.none();
}

/// What a boot or a helper writes each time is no change; what a person writes is.
#[test]
fn files_that_are_written_by_each_load_are_told_and_not_followed() {
    let app = App::copy();
    app.write(
        "config/initializers/writes.rb",
        r#"
File.write(Rails.root.join("config/same.yml"), "always: the same\n")
File.write(Rails.root.join("config/other.yml"), "pid: #{Process.pid}\n")
"#,
    );
    app.write(
        "spec/support/writes.rb",
        "File.write('spec/support/zz_written.rb', \"$written = #{Process.pid}\\n\")\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    wrong.equal("outcome", &server.run([SPEC])["outcome"], "passed");
    let status = server.status();
    let written = json!(["config/other.yml", "spec/support/zz_written.rb"]);
    wrong.equal("written by each load", status["rewrites"].clone(), written);
    let warm = |status: &Value| [status["boot_id"].clone(), status["zygote_pid"].clone()];
    for _ in 0..2 {
        wrong.equal("outcome", &server.run([SPEC])["outcome"], "passed");
        wrong.equal("what is warm", warm(&server.status()), warm(&status));
    }
    app.write("spec/support/zz_written.rb", "$written = 'by hand'\n");
    wrong.equal("outcome", &server.run([SPEC])["outcome"], "passed");
    let after = server.status();
    wrong.check(after["zygote_pid"] != status["zygote_pid"], || {
        "an edit of what the helper writes is no change".into()
    });
    wrong.equal("boots", &after["boot_id"], &status["boot_id"]);
    app.write("config/other.yml", "by: hand\n");
    wrong.equal("outcome", &server.run([SPEC])["outcome"], "passed");
    wrong.check(server.status()["boot_id"] != after["boot_id"], || {
        "an edit of what the boot writes is no change".into()
    });
    wrong.none();
    server.stop();
}

/// Everything that could keep Rails from reloading, at once.
#[test]
fn an_app_that_wants_all_loaded_and_nothing_reloaded_is_reloaded_all_the_same() {
    let app = App::copy();
    app.write(
        "config/initializers/caching.rb",
        "Rails.application.config.cache_classes = true\nRails.application.config.enable_reloading = false\n\
         Rails.application.config.eager_load = true\n",
    );
    let server = app.server_with(Setup::default().env("CI", "1"));
    let mut wrong = Deviations::default();
    let names = "Widget.reserved_names.first";
    wrong.equal("before", see(&app, &server, names).0, "nothing");
    let edit = |to: &str| {
        let text = app.read("app/models/widget.rb");
        let (head, rest) = text.split_once("def self.reserved_names\n").expect("a method");
        let (_, tail) = rest.split_once('\n').expect("lines");
        app.write(
            "app/models/widget.rb",
            format!("{head}def self.reserved_names\n    {to}\n{tail}"),
        );
    };
    for name in ["something", "anything"] {
        edit(&format!("%w[{name}]"));
        wrong.equal("after an edit", see(&app, &server, names).0, name);
    }
    wrong.equal("boots", &server.status()["boot_id"], 1);
    wrong.none();
    server.stop();
}

/// There are never two of a class, and the old one still in use.
#[test]
fn a_class_that_is_kept_outside_of_what_is_reloaded_is_the_new_one() {
    let app = App::copy();
    app.write(
        "lib/registry.rb",
        "module Registry\n  def self.all = @all ||= {}\nend\n",
    );
    app.write("config/initializers/registry.rb", "require 'registry'\n");
    app.edit(
        "app/models/widget.rb",
        "class Widget < ApplicationRecord\n",
        "class Widget < ApplicationRecord\n  Registry.all[name] ||= [ self ]\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let same = "Registry.all['Widget'].first.equal?(Widget)";
    wrong.equal("before", see(&app, &server, same).0, "true");
    app.append("app/models/widget.rb", "# edited\n");
    wrong.equal("after an edit", see(&app, &server, same).0, "true");
    wrong.equal("boots", &server.status()["boot_id"], 1);
    wrong.none();
    server.stop();
}

/// The variables that a boot took from a file are those of the file, and a run's own are gone with it.
#[test]
fn variables_come_from_the_files_of_the_boot_and_not_from_other_runs() {
    let app = App::copy();
    let load = "Dir['.env', '.env.mine'].each { |file| File.readlines(file, chomp: true)\
                .each { |line| ENV.store(*line.split('=')) } }\n";
    app.write(
        "config/application.rb",
        load.to_owned() + &app.read("config/application.rb"),
    );
    app.write(".env", "COLOUR=red\n");
    let server = app.server();
    let mut wrong = Deviations::default();
    let colour = "ENV['COLOUR'].tap { ENV['COLOUR'] = 'of a run' }";
    for (what, file, text, colour_seen) in [
        ("at first", None, "", "red"),
        ("again", None, "", "red"),
        ("after an edit", Some(".env"), "COLOUR=green\n", "green"),
        ("with a name of its own", Some(".env.mine"), "COLOUR=grey\n", "grey"),
    ] {
        if let Some(file) = file {
            app.write(file, text);
        }
        wrong.equal(what, see(&app, &server, colour).0, colour_seen);
    }
    app.remove(".env.mine");
    wrong.equal("without it", see(&app, &server, colour).0, "green");
    wrong.none();
    server.stop();
}

/// Each run has its own seed, its own numbers and its own start.
#[test]
fn what_the_warm_app_has_drawn_or_begun_is_not_handed_on() {
    let app = App::copy();
    app.append(
        "spec/spec_helper.rb",
        "RSpec.configure { |config| config.order = :random }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let expression = "[rand(10**9), SecureRandom.hex(4), RSpec.configuration.seed].join(' ')";
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (words, report) = see(&app, &server, expression);
        wrong.equal(
            "the seed that is told",
            report["seed"].to_string(),
            words.split(' ').nth(2).unwrap_or("?"),
        );
        seen.extend(words.split(' ').map(str::to_owned));
    }
    let different: std::collections::HashSet<&String> = seen.iter().collect();
    wrong.check(different.len() == 9, || format!("some are the same: {seen:?}"));
    let fresh = "RSpec.configuration.start_time >= Time.at(File.mtime('spec/probe_spec.rb'))";
    wrong.equal("its start", see(&app, &server, fresh).0, "true");
    wrong.none();
    server.stop();
}

/// Handlers of the helper belong to the run and may change its verdict; those of the boot belong to the warm app.
#[test]
fn exit_handlers_of_the_helper_count_and_those_of_the_boot_do_not() {
    let app = App::copy();
    app.write(
        "config/initializers/exits.rb",
        "at_exit { File.write('tmp/boot_exited', 'x', mode: 'a'); exit! 9 }\n",
    );
    app.write(
        "spec/support/exits.rb",
        "at_exit { File.write('tmp/helper_exited', 'x', mode: 'a'); exit 7 if ENV['STRICT'] }\n",
    );
    app.write(
        "spec/strict_spec.rb",
        "RSpec.describe('x') { it('is strict') { ENV['STRICT'] = '1' } }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    wrong.equal("one that is not strict", &server.run([SPEC])["outcome"], "passed");
    wrong.equal("runs of the handler", app.read("tmp/helper_exited"), "x");
    let report = server.run(["spec/strict_spec.rb"]);
    wrong.equal("one that is", &report["outcome"], "failed_at_exit");
    wrong.check(has_text(&report["reason"], "7"), || {
        format!("with which status: {report}")
    });
    wrong.equal("runs of the handler", app.read("tmp/helper_exited"), "xx");
    wrong.equal("the next one", &server.run([SPEC])["outcome"], "passed");
    app.append("spec/support/exits.rb", "# a new one\n");
    wrong.equal("after a new helper", &server.run([SPEC])["outcome"], "passed");
    server.stop();
    wrong.check(!app.path("tmp/boot_exited").exists(), || {
        format!("handlers of the boot ran: {}", app.read("tmp/boot_exited"))
    });
    wrong.none();
}

/// Clients that know of forks refuse to be used in one: that is a failure like any other, in the words of the client.
#[test]
fn a_client_that_refuses_to_be_inherited_fails_in_its_own_words() {
    let app = App::copy();
    app.write(
        "config/initializers/client.rb",
        r#"
class Client
  InheritedError = Class.new(StandardError)
  def initialize = @pid = Process.pid
  def call = @pid == Process.pid ? :ok : raise(InheritedError, "Tried to use a connection from a child process without reconnecting.")
end
CLIENT = Client.new
"#,
    );
    app.write(
        "spec/client_spec.rb",
        "RSpec.describe('x') { it('calls') { expect(CLIENT.call).to eq(:ok) } }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    wrong.equal("outcome of a spec without it", &server.run([SPEC])["outcome"], "passed");
    let report = server.run(["spec/client_spec.rb"]);
    wrong.equal("outcome", &report["outcome"], "failed");
    wrong.equal("class", &report["failures"][0]["class"], "Client::InheritedError");
    let words = "Tried to use a connection from a child process without reconnecting.";
    wrong.equal("message", &report["failures"][0]["message"], words);
    wrong.none();
    server.stop();
}

/// No process holds a database open that is not just using it.
#[test]
fn nothing_is_connected_while_nothing_runs() {
    let app = App::copy();
    app.write(
        "config/initializers/connects.rb",
        "Rails.application.config.after_initialize { ActiveRecord::Base.connection.select_value('SELECT 1'); AuditRecord.connection.select_value('SELECT 1') }\n",
    );
    app.write(
        "spec/support/connects.rb",
        "Widget.count\nAuditRecord.connection.select_value('SELECT 1')\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let pools = "ActiveRecord::Base.connection_handler.connection_pool_list(:all).sum { |pool| pool.connections.size }";
    app.write(
        "spec/pools_spec.rb",
        format!("$connected = {pools}\nRSpec.describe('x') {{ it('y') {{ expect($connected).to eq(0); expect(Widget.count).to eq(0) }} }}\n"),
    );
    for _ in 0..2 {
        let report = server.run(["spec/pools_spec.rb", "spec/models/widget_spec.rb"]);
        wrong.check(report["outcome"] == "passed" && report["mode"] == "fork", || {
            format!("{report}")
        });
    }
    let status = server.status();
    for name in ["worker_pid", "zygote_pid"] {
        let open: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", status[name]))
            .expect("it lives")
            .flatten()
            .filter_map(|entry| std::fs::read_link(entry.path()).ok())
            .map(|path| path.display().to_string())
            .filter(|path| path.contains(".sqlite3"))
            .collect();
        wrong.check(open.is_empty(), || format!("{name} has {open:?} open"));
    }
    wrong.none();
    server.stop();
}
