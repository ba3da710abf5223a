//! Roots that are no plain app: an engine with a dummy app, one whose helper makes the app, one below another root, one
//! directory with two bundles, a bundle of many files.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, Setup, has_text};

const GEMSPEC: &str = "Gem::Specification.new { |s| s.name = 'stock'; s.version = '1.0'; s.authors = ['x']; \
                       s.summary = 'an engine'; s.files = Dir['{app,lib}/**/*']; s.add_dependency 'rails' }\n";
const GEMFILE: &str = "gemspec\ngem 'sqlite3'\ngem 'rspec-rails', require: false\n";

/// The least that an engine has, below the app but not in its bundle.
fn engine(app: &App) {
    for (path, text) in [
        ("stock.gemspec", GEMSPEC),
        ("Gemfile", GEMFILE),
        ("lib/stock.rb", "require 'stock/engine'\n"),
        (
            "lib/stock/engine.rb",
            "module Stock\n  class Engine < ::Rails::Engine\n    isolate_namespace Stock\n  end\nend\n",
        ),
        (
            "app/models/stock/shelf.rb",
            "module Stock\n  class Shelf\n    def self.height = 1\n  end\nend\n",
        ),
        (
            "spec/shelf_spec.rb",
            "require 'rails_helper'\nRSpec.describe('Stock::Shelf') { it('is high') { print 'saw <', Stock::Shelf.height, '> in ', Dir.pwd[/\\w+\\z/] } }\n",
        ),
    ] {
        app.write(&format!("side/stock/{path}"), text);
    }
}

const DUMMY: &str = r#"
require "bundler/setup"
require "action_controller/railtie"
Bundler.require
require "stock"

module Dummy
  class Application < Rails::Application
    config.root = File.expand_path("..", __dir__)
    config.load_defaults Rails::VERSION::STRING.to_f
    config.eager_load = false
    config.enable_reloading = false
    config.secret_key_base = "x"
    config.hosts.clear
    config.logger = Logger.new(nil)
  end
end
"#;

const HELPER: &str = "ENV['RAILS_ENV'] = 'test'\nrequire_relative 'dummy/config/environment'\nrequire 'rspec/rails'\n\
                      Dir['spec/support/*.rb'].sort.each { |file| require File.expand_path(file) }\n";

fn in_engine(app: &App) -> Server {
    app.server_with(Setup::default().directory(app.path("side/stock/spec")))
}

fn see(server: &Server) -> Value {
    server.run_with(["spec/shelf_spec.rb"], json!({"include_stdout": "always"}))
}

/// The engine is the root, whatever lies above it: an app with a Gemfile and a bin/rspec of its own.
#[test]
fn an_engine_with_a_dummy_app_is_a_root_below_an_app() {
    let app = App::copy();
    engine(&app);
    app.write("side/stock/spec/dummy/config/application.rb", DUMMY);
    app.write(
        "side/stock/spec/dummy/config/environment.rb",
        "require_relative 'application'\nRails.application.initialize!\n",
    );
    app.write("side/stock/spec/rails_helper.rb", HELPER);
    app.write("side/stock/spec/support/relative.rb", "$relative = 1\n");
    app.write("bin/rspec", "#!/usr/bin/env ruby\nabort 'the wrong one'\n");
    let server = in_engine(&app);
    let mut wrong = Deviations::default();
    let root = app.path("side/stock").display().to_string();
    for fork in ["always", "never"] {
        let report = server.run_with(
            ["spec/shelf_spec.rb"],
            json!({"include_stdout": "always", "fork": fork}),
        );
        wrong.check(report["outcome"] == "passed", || format!("{fork}: {report}"));
        wrong.check(has_text(&report["stdout"], "saw <1> in stock"), || {
            format!("{fork}: {report}")
        });
    }
    wrong.equal("root", &server.status()["project_root"], &root);
    let boot = server.status()["boot_id"].clone();
    app.edit("side/stock/app/models/stock/shelf.rb", "height = 1", "height = 2");
    let report = see(&server);
    wrong.check(has_text(&report["stdout"], "saw <2>"), || {
        format!("after an edit: {report}")
    });
    wrong.equal("boots for a model of the engine", &server.status()["boot_id"], &boot);
    app.append("side/stock/spec/dummy/config/environment.rb", "$again = 1\n");
    let report = see(&server);
    wrong.check(has_text(&report["trigger"], "spec/dummy/config/environment.rb"), || {
        format!("after an edit of the dummy: {report}")
    });
    wrong.check(server.status()["boot_id"] != boot, || "no new boot".into());
    wrong.none();
    server.stop();
}

/// There is no app but the one that the helper defines.
#[test]
fn an_engine_without_an_app_is_booted_by_the_file_that_its_settings_name() {
    let app = App::copy();
    engine(&app);
    app.write(
        "side/stock/spec/tiny_app.rb",
        format!("{DUMMY}\nRails.application.initialize!\n"),
    );
    app.write(
        "side/stock/spec/rails_helper.rb",
        HELPER.replace("dummy/config/environment", "tiny_app"),
    );
    app.write("side/stock/.coatepec.yml", "boot: spec/tiny_app.rb\ngrace_seconds: 1\n");
    let server = in_engine(&app);
    let mut wrong = Deviations::default();
    let report = see(&server);
    wrong.check(report["outcome"] == "passed" && report["mode"] == "fork", || {
        format!("{report}")
    });
    app.edit("side/stock/app/models/stock/shelf.rb", "height = 1", "height = 3");
    let report = see(&server);
    wrong.check(has_text(&report["stdout"], "saw <3>"), || {
        format!("after an edit: {report}")
    });

    // Other settings are another app, and another helper.
    let other = app.read("side/stock/spec/tiny_app.rb") + "def (Stock::Shelf).height = 'of another app'\n";
    app.write("side/stock/spec/other_app.rb", other);
    app.edit("side/stock/.coatepec.yml", "tiny_app", "other_app");
    app.edit("side/stock/spec/rails_helper.rb", "tiny_app", "other_app");
    let report = see(&server);
    wrong.check(has_text(&report["stdout"], "of another app"), || {
        format!("another app: {report}")
    });
    app.write("side/stock/spec/more.rb", "def (Stock::Shelf).height = 'of more'\n");
    app.append("side/stock/.coatepec.yml", "preload: [spec/more.rb]\n");
    let report = see(&server);
    wrong.check(has_text(&report["stdout"], "of more"), || {
        format!("with more to load: {report}")
    });
    wrong.none();
    server.stop();
}

/// Which bundle it is is up to the environment that the server was started in.
#[test]
fn two_bundles_of_one_directory_are_two_servers() {
    let app = App::copy();
    app.write(
        "gemfiles/plain.gemfile",
        app.read("Gemfile").replace("path: \"", "path: \"../"),
    );
    let gem = "gem 'rake', require: 'rake/version'\n";
    app.write("gemfiles/more.gemfile", app.read("gemfiles/plain.gemfile") + gem);
    app.write(
        "spec/bundle_spec.rb",
        "require 'rails_helper'\nRSpec.describe('x') { it('y') { print 'saw <', ENV['BUNDLE_GEMFILE'][/\\w+\\.gemfile/], ' ', defined?(Rake::VERSION), '>' } }\n",
    );
    // Read by the bundle that is used, and only by that.
    let server = |name: &str| {
        let gemfile = app.path(&format!("gemfiles/{name}.gemfile"));
        app.server_with(Setup::default().env("BUNDLE_GEMFILE", gemfile.to_str().unwrap_or("")))
    };
    let see = |server: &Server| {
        let report = server.run_with(["spec/bundle_spec.rb"], json!({"include_stdout": "always"}));
        report["stdout"]["text"]
            .as_str()
            .unwrap_or(&report.to_string())
            .to_owned()
    };
    let (plain, more) = (server("plain"), server("more"));
    let mut wrong = Deviations::default();
    wrong.equal("one", see(&plain), "saw <plain.gemfile >");
    wrong.equal("the other", see(&more), "saw <more.gemfile constant>");
    let boots = [&plain, &more].map(|server| server.status()["boot_id"].clone());
    app.append("gemfiles/plain.gemfile", gem);
    wrong.equal("one, with more", see(&plain), "saw <plain.gemfile constant>");
    wrong.equal("the other, as before", see(&more), "saw <more.gemfile constant>");
    wrong.check(plain.status()["boot_id"] != boots[0], || "no new boot".into());
    wrong.equal("boots of the other", &more.status()["boot_id"], &boots[1]);
    wrong.none();
    plain.end();
    more.end();
}

/// A Gemfile is a program: what it reads, it depends on.
#[test]
fn every_file_that_the_gemfile_reads_is_part_of_the_bundle() {
    let app = App::copy();
    app.write("gemfiles/common.rb", "gem 'rspec-rails', require: false\n");
    app.edit("Gemfile", "  gem \"rspec-rails\", require: false\n", "");
    app.append(
        "Gemfile",
        r#"
eval_gemfile "gemfiles/common.rb"
eval_gemfile "Gemfile.local" if File.exist?("Gemfile.local")
$local = 3 if File.read("config/database.yml").include?('three')
"#,
    );
    app.write(
        "spec/bundle_spec.rb",
        "RSpec.describe('x') { it('y') { print 'saw <', $local.inspect, '>' } }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let mut check = |what: &str, saw: &str, reboots: bool, trigger: &str| {
        let before = server.status()["boot_id"].clone();
        let report = server.run_with(["spec/bundle_spec.rb"], json!({"include_stdout": "always"}));
        wrong.check(has_text(&report["stdout"], saw), || format!("{what}: {report}"));
        let status = server.status();
        wrong.equal(what, status["boot_id"] != before, reboots);
        wrong.check(has_text(&status["last_trigger"], trigger) || trigger.is_empty(), || {
            format!("{what}: {}", status["last_trigger"])
        });
    };
    check("before", "nil>", true, "");
    check("again", "nil>", false, "");
    app.write("Gemfile.local", "$local = 1\n");
    check("a file that was not there", "1>", true, "Gemfile.local");
    app.append("gemfiles/common.rb", "$local = 2\n");
    app.write("Gemfile.local", "");
    check("a file that the Gemfile reads", "2>", true, "");
    app.append("config/database.yml", "# three\n");
    check("a file of settings", "3>", true, "config/database.yml");
    app.write("Gemfile.local", "");
    check("a file that is as it was", "3>", false, "");
    wrong.none();
    server.stop();
}
