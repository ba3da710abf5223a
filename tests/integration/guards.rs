//! What keeps a run from being forked is told so that a person can look it up; what merely looks like it does not.

use serde_json::{Value, json};

use crate::support::{App, Deviations, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// A gem of this name in the app's bundle, with this code, that nothing requires by itself.
fn stub_gem(app: &App, name: &str, code: &str) {
    let spec = format!(
        "Gem::Specification.new {{ |s| s.name = '{name}'; s.version = '1.0'; s.authors = ['x']; s.summary = 'a stub' }}\n"
    );
    app.write(&format!("gems/{name}/{name}.gemspec"), spec);
    app.write(&format!("gems/{name}/lib/{name}.rb"), code);
    app.append(
        "Gemfile",
        &format!("gem '{name}', path: 'gems/{name}', require: false\n"),
    );
}

/// Passed, in this mode, with a reason that has all of these words.
fn check(wrong: &mut Deviations, what: &str, report: &Value, mode: &str, reason: &[&str]) {
    wrong.check(report["outcome"] == "passed", || format!("{what}: {report}"));
    let told = reason.iter().all(|word| has_text(&report["mode_reason"], word));
    wrong.check(report["mode"] == mode && told, || {
        format!("{what}: {} because {}", report["mode"], report["mode_reason"])
    });
}

#[test]
fn a_gem_of_the_list_is_told_with_what_it_does_and_where_that_was_reported() {
    let app = App::copy();
    stub_gem(&app, "grpc", "module GRPC\nend\n");
    stub_gem(
        &app,
        "eventmachine",
        "module EventMachine\n  class << self\n    attr_accessor :running\n    def reactor_running? = !!running\n  end\nend\n",
    );
    app.write("spec/support/gems.rb", "require 'grpc'\n");
    let server = app.server();
    let mut wrong = Deviations::default();
    let words = ["gem grpc", "waits for them for ever", "grpc/grpc#1679"];
    check(&mut wrong, "loaded", &server.run([SPEC]), "spawn_fallback", &words);

    app.write("spec/support/gems.rb", "require 'eventmachine'\n");
    check(&mut wrong, "loaded, and nothing runs", &server.run([SPEC]), "fork", &[]);
    app.append("spec/support/gems.rb", "EventMachine.running = true\n");
    let words = ["gem eventmachine", "reactor", "eventmachine/eventmachine#213"];
    check(
        &mut wrong,
        "its reactor runs",
        &server.run([SPEC]),
        "spawn_fallback",
        &words,
    );

    let always = server.run_with([SPEC], json!({"fork": "always"}));
    check(&mut wrong, "whoever asks for a fork gets one", &always, "fork", &[]);

    // The gem comes without its class, and the class without its gem.
    app.remove("spec/support/gems.rb");
    app.write("app/models/vips.rb", "module Vips\nend\n");
    check(&mut wrong, "a class of the app", &server.run([SPEC]), "fork", &[]);
    wrong.none();
    server.stop();
}

/// A C library starts threads that Ruby doesn't know of, mostly under the name of the process.
#[test]
fn threads_of_c_libraries_are_seen_and_those_of_ruby_itself_are_none() {
    let app = App::copy();
    app.write(
        "spec/support/threads.rb",
        r#"
require "timeout"
Timeout.timeout(60) { 1 }
Thread.new { 1 }.join
ActiveRecord::Base.connection_pool.reaper.run if ActiveRecord::Base.connection_pool.reaper
"#,
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    check(&mut wrong, "Ruby's own", &server.run([SPEC]), "fork", &[]);
    app.append(
        "spec/support/threads.rb",
        r#"
require "fiddle"
libc = Fiddle.dlopen(nil)
create = Fiddle::Function.new(libc["pthread_create"], [Fiddle::TYPE_VOIDP] * 4, Fiddle::TYPE_INT)
create.call(Fiddle.malloc(16), nil, libc["pause"], nil).zero? or raise "no thread"
"#,
    );
    let words = ["native threads", "ruby"];
    check(&mut wrong, "one of C", &server.run([SPEC]), "spawn_fallback", &words);
    wrong.none();
    server.stop();
}
