//! A run never answers from code older than the files on disk, and throws away no more than a change calls for.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{self, App, Deviations, Server, Setup, eventually, has_text};

/// What a change costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    Helper,
    Reload,
    Reboot,
}

struct Case {
    name: &'static str,
    /// A Ruby expression, evaluated in an example.
    sees: &'static str,
    before: &'static str,
    after: &'static str,
    change: fn(&App),
    effect: Effect,
    /// What the trigger names.
    trigger: &'static str,
}

const SPECS: &[Case] = &[
    Case {
        name: "a view",
        sees: "ApplicationController.render(template: 'widgets/index', assigns: {widgets: []}).include?('brand new')",
        before: "false",
        after: "true",
        change: |app| {
            app.append("app/views/widgets/index.html.erb", "brand new\n");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
    Case {
        name: "data that a spec reads",
        sees: "File.read('spec/data.txt')",
        before: "one",
        after: "two",
        change: |app| {
            app.write("spec/data.txt", "two");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
    Case {
        name: "a file of lib/ that only runs load",
        sees: "require 'price_report'; PriceReport.new([]).to_csv",
        before: "",
        after: "nothing",
        change: |app| {
            app.edit(
                "lib/price_report.rb",
                ".join",
                ".join.then { |text| text.empty? ? 'nothing' : text }",
            );
        },
        effect: Effect::Reboot,
        trigger: "lib/price_report.rb",
    },
    Case {
        name: "a touch",
        sees: "Widget.name",
        before: "Widget",
        after: "Widget",
        change: |app| {
            touch(app, "app/models/widget.rb");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
    Case {
        name: "a checkout and back",
        sees: "Slugger.call('A B')",
        before: "a-b",
        after: "a-b",
        change: |app| {
            for path in [
                "lib/slugger.rb",
                "app/models/widget.rb",
                "config/routes.rb",
                "Gemfile",
                "spec/rails_helper.rb",
            ] {
                replace(app, path, &app.read(path));
            }
        },
        effect: Effect::Nothing,
        trigger: "",
    },
    Case {
        name: "a file that no Ruby reads",
        sees: "1",
        before: "1",
        after: "1",
        change: |app| {
            app.write("app/models/README.md", "About the models\n");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
];

const HELPERS: &[Case] = &[
    Case {
        name: "the helper",
        sees: "$of_the_helper.inspect",
        before: "nil",
        after: "1",
        change: |app| {
            app.append("spec/rails_helper.rb", "$of_the_helper = 1\n");
        },
        effect: Effect::Helper,
        trigger: "spec/rails_helper.rb",
    },
    Case {
        name: "what the helper requires",
        sees: "$of_the_spec_helper.inspect",
        before: "nil",
        after: "2",
        change: |app| {
            app.append("spec/spec_helper.rb", "$of_the_spec_helper = 2\n");
        },
        effect: Effect::Helper,
        trigger: "spec/spec_helper.rb",
    },
    Case {
        name: "a support file",
        sees: "JsonHelper.instance_methods.inspect",
        before: "[:json]",
        after: "[:parsed]",
        change: |app| {
            app.edit("spec/support/json_helper.rb", "def json", "def parsed");
        },
        effect: Effect::Helper,
        trigger: "spec/support/json_helper.rb",
    },
    Case {
        name: "a new support file",
        sees: "$new_support.inspect",
        before: "nil",
        after: "3",
        change: |app| {
            app.write("spec/support/deep/new.rb", "$new_support = 3\n");
        },
        effect: Effect::Helper,
        trigger: "spec/support/deep/new.rb",
    },
    Case {
        name: "a support file that is gone",
        sees: "$new_support.inspect",
        before: "3",
        after: "nil",
        change: |app| {
            app.remove("spec/support/deep/new.rb");
        },
        effect: Effect::Helper,
        trigger: "spec/support/deep/new.rb",
    },
    Case {
        name: "a factory",
        sees: "build(:widget).price_cents",
        before: "1000",
        after: "1001",
        change: |app| {
            app.edit(
                "spec/factories/widgets.rb",
                "price_cents { 1_000 }",
                "price_cents { 1_001 }",
            );
        },
        effect: Effect::Helper,
        trigger: "spec/factories/widgets.rb",
    },
    Case {
        name: "a new factory of a pack",
        sees: "FactoryBot.factories.registered?(:shelf_of_glass)",
        before: "false",
        after: "true",
        change: |app| {
            let text = "FactoryBot.define { factory(:shelf_of_glass, class: 'Catalog::Shelf') }\n";
            app.write("packs/catalog/spec/factories/glass.rb", text);
        },
        effect: Effect::Helper,
        trigger: "packs/catalog/spec/factories/glass.rb",
    },
    Case {
        name: "options of RSpec",
        sees: "$required_by_option.inspect",
        before: "nil",
        after: "4",
        change: |app| {
            app.write("spec/more.rb", "$required_by_option = 4\n");
            app.append(".rspec", "--require more\n");
        },
        effect: Effect::Helper,
        trigger: "",
    },
    Case {
        name: "a migration with its schema",
        sees: "Widget.column_names.include?('weight')",
        before: "false",
        after: "true",
        change: |app| {
            let text = "class AddWeight < ActiveRecord::Migration[7.1]\n  def change = add_column(:widgets, :weight, :integer)\nend\n";
            app.write("db/migrate/20240201000000_add_weight.rb", text);
            let schema = app.read("db/schema.rb");
            let version = schema
                .split("version: ")
                .nth(1)
                .and_then(|rest| rest.split(')').next())
                .expect("a version");
            let schema = schema.replace(version, "2024_02_01_000000");
            let at = "create_table \"widgets\"";
            let (head, tail) = schema.split_once(at).expect("a table");
            let (line, rest) = tail.split_once('\n').expect("lines");
            app.write(
                "db/schema.rb",
                format!("{head}{at}{line}\n    t.integer \"weight\"\n{rest}"),
            );
        },
        effect: Effect::Helper,
        trigger: "db/",
    },
];

const RELOADS: &[Case] = &[
    Case {
        name: "a model",
        sees: "Widget.reserved_names.inspect",
        before: r#"["nothing", "everything"]"#,
        after: r#"["something"]"#,
        change: |app| {
            app.edit(
                "app/models/widget.rb",
                "Rails.configuration.x.widgets.reserved_names",
                "%w[something]",
            );
        },
        effect: Effect::Reload,
        trigger: "app/models/widget.rb",
    },
    Case {
        name: "a concern",
        sees: "Widget.new.respond_to?(:sluggish?)",
        before: "false",
        after: "true",
        change: |app| {
            app.edit(
                "app/models/concerns/sluggable.rb",
                "  private",
                "  def sluggish? = true\n\n  private",
            );
        },
        effect: Effect::Reload,
        trigger: "app/models/concerns/sluggable.rb",
    },
    Case {
        name: "a new model",
        sees: "Object.const_defined?(:Brand)",
        before: "false",
        after: "true",
        change: |app| {
            app.write("app/models/brand.rb", "class Brand\nend\n");
        },
        effect: Effect::Reload,
        trigger: "app/models/brand.rb",
    },
    Case {
        name: "a model that is gone",
        sees: "Object.const_defined?(:Brand)",
        before: "true",
        after: "false",
        change: |app| {
            app.remove("app/models/brand.rb");
        },
        effect: Effect::Reload,
        trigger: "app/models/brand.rb",
    },
    Case {
        name: "a model in a new directory",
        sees: "Object.const_defined?('Depot::Shelf::Bin')",
        before: "false",
        after: "true",
        change: |app| {
            app.write("app/models/depot/shelf/bin.rb", "class Depot::Shelf::Bin\nend\n");
        },
        effect: Effect::Reload,
        trigger: "app/models/depot",
    },
    Case {
        name: "a model that moved",
        sees: "Object.const_source_location('Tag').first.split('/').last(2).join('/')",
        before: "models/tag.rb",
        after: "concerns/tag.rb",
        change: |app| {
            let (from, to) = (app.path("app/models/tag.rb"), app.path("app/models/concerns/tag.rb"));
            fs::rename(from, to).expect("it can be moved");
        },
        effect: Effect::Reload,
        trigger: "tag.rb",
    },
    Case {
        name: "an edit of the same size that keeps the time",
        sees: "Paginated::PER_PAGE",
        before: "20",
        after: "30",
        change: |app| {
            sneak(app, "app/controllers/concerns/paginated.rb", "= 20", "= 30");
        },
        effect: Effect::Reload,
        trigger: "app/controllers/concerns/paginated.rb",
    },
    Case {
        name: "an edit that is older than what it replaces",
        sees: "Paginated::PER_PAGE",
        before: "30",
        after: "40",
        change: |app| {
            app.edit("app/controllers/concerns/paginated.rb", "= 30", "= 40");
            let long_ago = SystemTime::now() - Duration::from_secs(86_400 * 365);
            set_time(app, "app/controllers/concerns/paginated.rb", long_ago);
        },
        effect: Effect::Reload,
        trigger: "app/controllers/concerns/paginated.rb",
    },
    Case {
        name: "routes",
        sees: "Rails.application.routes.url_helpers.respond_to?(:pong_path)",
        before: "false",
        after: "true",
        change: |app| {
            app.edit(
                "config/routes.rb",
                "root \"pages#home\"",
                "root \"pages#home\"\n  get \"pong\", to: \"pages#home\"",
            );
        },
        effect: Effect::Reload,
        trigger: "config/routes.rb",
    },
    Case {
        name: "a locale",
        sees: "I18n.t('site_name')",
        before: "Widgetry",
        after: "Gadgetry",
        change: |app| {
            app.edit("config/locales/en.yml", "site_name: Widgetry", "site_name: Gadgetry");
        },
        effect: Effect::Reload,
        trigger: "config/locales/en.yml",
    },
    Case {
        name: "a model of an engine",
        sees: "Billing::Invoice.new.respond_to?(:void!)",
        before: "false",
        after: "true",
        change: |app| {
            app.edit(
                "engines/billing/app/models/billing/invoice.rb",
                "    def pay!",
                "    def void! = nil\n\n    def pay!",
            );
        },
        effect: Effect::Reload,
        trigger: "engines/billing/app/models/billing/invoice.rb",
    },
    Case {
        name: "a model of a pack",
        sees: "Catalog::Shelf.respond_to?(:tallest)",
        before: "false",
        after: "true",
        change: |app| {
            let text = app.read("packs/catalog/app/models/catalog/shelf.rb");
            let (line, rest) = text.split_once("class Shelf").expect("a class");
            let (head, rest) = rest.split_once('\n').expect("lines");
            let text = format!("{line}class Shelf{head}\n  def self.tallest = 1\n{rest}");
            app.write("packs/catalog/app/models/catalog/shelf.rb", text);
        },
        effect: Effect::Reload,
        trigger: "packs/catalog/app/models/catalog/shelf.rb",
    },
];

const REBOOTS: &[Case] = &[
    Case {
        name: "a file of lib/ that the boot required",
        sees: "Slugger.call('A B')",
        before: "a-b",
        after: "a_b",
        change: |app| {
            app.edit("lib/slugger.rb", r#"/[^a-z0-9]+/, "-""#, r#"/[^a-z0-9]+/, "_""#);
        },
        effect: Effect::Reboot,
        trigger: "lib/slugger.rb",
    },
    Case {
        name: "an initializer",
        sees: "Rails.application.config.filter_parameters.include?(:pin)",
        before: "false",
        after: "true",
        change: |app| {
            app.edit("config/initializers/filter_parameter_logging.rb", "passw", "pin passw");
        },
        effect: Effect::Reboot,
        trigger: "config/initializers/filter_parameter_logging.rb",
    },
    Case {
        name: "a new initializer",
        sees: "$new_initializer.inspect",
        before: "nil",
        after: "5",
        change: |app| {
            app.write("config/initializers/new.rb", "$new_initializer = 5\n");
        },
        effect: Effect::Reboot,
        trigger: "config/initializers/new.rb",
    },
    Case {
        name: "an initializer that is gone",
        sees: "$new_initializer.inspect",
        before: "5",
        after: "nil",
        change: |app| {
            app.remove("config/initializers/new.rb");
        },
        effect: Effect::Reboot,
        trigger: "config/initializers/new.rb",
    },
    Case {
        name: "YAML that the boot read",
        sees: "Rails.configuration.x.widgets.currency",
        before: "EUR",
        after: "DKK",
        change: |app| {
            app.edit("config/widgets.yml", "currency: EUR", "currency: DKK");
        },
        effect: Effect::Reboot,
        trigger: "config/widgets.yml",
    },
    Case {
        name: "the environment of tests",
        sees: "Rails.configuration.x.of_test == 6",
        before: "false",
        after: "true",
        change: |app| {
            app.edit(
                "config/environments/test.rb",
                "config.cache_store",
                "config.x.of_test = 6\n  config.cache_store",
            );
        },
        effect: Effect::Reboot,
        trigger: "config/environments/test.rb",
    },
    Case {
        name: "the application",
        sees: "Rails.configuration.x.of_application == 7",
        before: "false",
        after: "true",
        change: |app| {
            app.edit(
                "config/application.rb",
                "config.i18n",
                "config.x.of_application = 7\n    config.i18n",
            );
        },
        effect: Effect::Reboot,
        trigger: "config/application.rb",
    },
    Case {
        name: "a gem by path",
        sees: "MoneyMath.add_percent(100, 10)",
        before: "110",
        after: "111",
        change: |app| {
            app.edit(
                "gems/money_math/lib/money_math.rb",
                ".quo(100).round",
                ".quo(100).round + 1",
            );
        },
        effect: Effect::Reboot,
        trigger: "gems/money_math/lib/money_math.rb",
    },
    Case {
        name: "lib/ of an engine",
        sees: "defined?(Billing::VERSION_OF_BILLING) ? 1 : 'none'",
        before: "none",
        after: "1",
        change: |app| {
            app.edit(
                "engines/billing/lib/billing.rb",
                "module Billing\n",
                "module Billing\n  VERSION_OF_BILLING = 1\n",
            );
        },
        effect: Effect::Reboot,
        trigger: "engines/billing/lib/billing.rb",
    },
    Case {
        name: "the Gemfile",
        sees: "defined?(Rake::VERSION).nil?",
        before: "true",
        after: "false",
        change: |app| {
            app.append("Gemfile", "gem 'rake', require: 'rake/version'\n");
        },
        effect: Effect::Reboot,
        trigger: "Gemfile was modified",
    },
    Case {
        name: "a new .env",
        sees: "1",
        before: "1",
        after: "1",
        change: |app| {
            app.write(".env.test", "COLOUR=blue\n");
        },
        effect: Effect::Reboot,
        trigger: ".env.test",
    },
    Case {
        name: "the databases",
        sees: "ActiveRecord::Base.connection_db_config.configuration_hash[:timeout]",
        before: "5000",
        after: "4000",
        change: |app| {
            app.edit("config/database.yml", "timeout: 5000", "timeout: 4000");
        },
        effect: Effect::Reboot,
        trigger: "config/database.yml",
    },
];

#[test]
fn what_a_run_reads_by_itself_costs_nothing() {
    all(SPECS);
}

#[test]
fn what_the_helper_loaded_costs_a_helper() {
    all(HELPERS);
}

#[test]
fn what_rails_can_reload_costs_a_reload() {
    all(RELOADS);
}

#[test]
fn what_the_boot_read_costs_a_boot() {
    all(REBOOTS);
}

fn all(cases: &[Case]) {
    let app = App::copy();
    app.write("spec/data.txt", "one");
    let server = app.server();
    let mut wrong = Deviations::default();
    for case in cases {
        try_out(&mut wrong, &app, &server, case);
    }
    wrong.none();
    server.stop();
}

fn try_out(wrong: &mut Deviations, app: &App, server: &Server, case: &Case) {
    let name = case.name;
    let before = see(app, server, case.sees);
    wrong.check(before.0 == case.before, || {
        format!("{name}: before: {} {}", before.0, before.1)
    });
    let warm = server.at_rest();
    (case.change)(app);
    let after = see(app, server, case.sees);
    wrong.check(after.0 == case.after, || {
        format!("{name}: after: {} {}", after.0, after.1)
    });
    let status = server.at_rest();
    let effect = effect(&warm, &status);
    wrong.check(effect == case.effect, || {
        format!(
            "{name}: cost {effect:?}, should {:?}; {}",
            case.effect, status["last_trigger"]
        )
    });
    // Who warms up again between two calls has done it before the call, which then has nothing to tell.
    let told = case.effect == Effect::Nothing
        || has_text(&after.1["trigger"], case.trigger)
        || has_text(&status["last_trigger"], case.trigger);
    wrong.check(told, || {
        format!("{name}: trigger {} / {}", after.1["trigger"], status["last_trigger"])
    });
}

/// What the expression is in an example of a fork, with the report.
fn see(app: &App, server: &Server, expression: &str) -> (String, Value) {
    support::see_with(app, server, expression, json!({"fork": "always"}))
}

fn effect(before: &Value, after: &Value) -> Effect {
    let changed = |name: &str| before[name] != after[name];
    if changed("boot_id") || changed("worker_pid") {
        Effect::Reboot
    } else if !changed("zygote_pid") {
        Effect::Nothing
    } else if after["last_trigger"]
        .as_str()
        .is_some_and(|trigger| trigger.starts_with("reloaded"))
    {
        Effect::Reload
    } else {
        Effect::Helper
    }
}

fn touch(app: &App, path: &str) {
    set_time(app, path, SystemTime::now());
}

fn set_time(app: &App, path: &str, time: SystemTime) {
    let file = File::options().write(true).open(app.path(path)).expect("it is there");
    file.set_times(FileTimes::new().set_modified(time))
        .expect("its time can be set");
}

/// By another file of the same name, as editors and Git do.
fn replace(app: &App, path: &str, text: &str) {
    let new = app.path(&format!("{path}.new"));
    fs::write(&new, text).expect("it can be written");
    fs::rename(new, app.path(path)).expect("it can be replaced");
}

/// Keeps size and time.
fn sneak(app: &App, path: &str, from: &str, to: &str) {
    let before = fs::metadata(app.path(path)).expect("it is there");
    app.edit(path, from, to);
    set_time(app, path, before.modified().expect("it has a time"));
    let after = fs::metadata(app.path(path)).expect("it is there");
    assert_eq!(
        (before.mtime(), before.mtime_nsec(), before.len()),
        (after.mtime(), after.mtime_nsec(), after.len())
    );
}

/// Bootsnap compiles files ahead and knows them by size and time; with a cache of its own, that it writes.
#[test]
fn a_cache_of_compiled_files_hides_no_edit() {
    let app = App::copy();
    let cache = app.beside("tmp").join("cache");
    let setup = Setup::default()
        .env("BOOTSNAP_READONLY", "0")
        .env("BOOTSNAP_CACHE_DIR", cache.to_str().unwrap_or(""));
    let server = app.server_with(setup);
    let mut wrong = Deviations::default();
    let per_page = "Paginated::PER_PAGE";
    wrong.equal("before", see(&app, &server, per_page).0, "20");
    sneak(&app, "app/controllers/concerns/paginated.rb", "= 20", "= 30");
    wrong.equal("a reloaded file", see(&app, &server, per_page).0, "30");
    sneak(&app, "lib/slugger.rb", "a-z0-9", "a-z1-8");
    wrong.equal(
        "a file that the boot loads",
        see(&app, &server, "Slugger.call('0a9')").0,
        "a",
    );
    sneak(&app, "config/widgets.yml", "EUR", "DKK");
    wrong.equal(
        "YAML",
        see(&app, &server, "Rails.configuration.x.widgets.currency").0,
        "DKK",
    );
    sneak(&app, "spec/factories/widgets.rb", "{ 1_000 }", "{ 2_000 }");
    wrong.equal("a factory", see(&app, &server, "build(:widget).price_cents").0, "2000");
    wrong.none();
    server.stop();
}

/// A save during a run changes nothing for that run, and everything for the next.
#[test]
fn a_change_during_a_run_neither_disturbs_it_nor_is_lost() {
    let app = App::copy();
    app.write(
        "spec/patient_spec.rb",
        r#"
require "rails_helper"

RSpec.describe "A patient spec" do
  it "sees the same before and after" do
    before = [ Widget.reserved_names, Slugger.call("A B"), I18n.t("site_name") ]
    File.write("tmp/started", "")
    sleep 0.01 until File.exist?("tmp/go")
    expect([ Widget.reserved_names, Slugger.call("A B"), I18n.t("site_name") ]).to eq(before)
    print "saw <", before.last, ">"
  end
end
"#,
    );
    let server = app.server();
    let run = |change: &dyn Fn()| {
        let call = server.begin(["spec/patient_spec.rb"], json!({"include_stdout": "always"}));
        eventually("the run has begun", || app.path("tmp/started").exists().then_some(()));
        change();
        app.write("tmp/go", "");
        let report = server.report(call);
        app.remove("tmp/go");
        app.remove("tmp/started");
        report
    };
    let mut wrong = Deviations::default();
    let report = run(&|| {
        app.edit(
            "app/models/widget.rb",
            "Rails.configuration.x.widgets.reserved_names",
            "%w[something]",
        );
        app.edit("config/locales/en.yml", "site_name: Widgetry", "site_name: Gadgetry");
    });
    wrong.equal("a run during which code is saved", &report["outcome"], "passed");
    wrong.check(has_text(&report["stdout"], "saw <Widgetry>"), || format!("{report}"));
    wrong.check(report.get("trigger").is_none(), || format!("mislabelled: {report}"));
    wrong.equal(
        "the next run",
        see(&app, &server, "Widget.reserved_names.first").0,
        "something",
    );
    wrong.equal("the next run", see(&app, &server, "I18n.t('site_name')").0, "Gadgetry");
    let report = run(&|| app.edit("lib/slugger.rb", r#"/[^a-z0-9]+/, "-""#, r#"/[^a-z0-9]+/, "_""#));
    wrong.equal(
        "a run during which the boot's code is saved",
        &report["outcome"],
        "passed",
    );
    wrong.equal("the next run", see(&app, &server, "Slugger.call('A B')").0, "a_b");
    let report = run(&|| app.append("spec/rails_helper.rb", "$of_the_helper = 1\n"));
    wrong.equal("a run during which the helper is saved", &report["outcome"], "passed");
    wrong.equal("the next run", see(&app, &server, "$of_the_helper.inspect").0, "1");
    wrong.none();
    server.stop();
}

/// The file was read before the edit, and the boot ended after it.
#[test]
fn a_change_during_a_boot_or_a_load_is_not_lost() {
    let app = App::copy();
    let wait = "File.write('tmp/started', ''); sleep 0.01 until File.exist?('tmp/go')\n";
    app.write("config/initializers/slugger.rb", format!("require 'slugger'\n{wait}"));
    let server = app.server();
    let mut wrong = Deviations::default();
    during(&app, &server, &|| {
        app.edit("lib/slugger.rb", r#"/[^a-z0-9]+/, "-""#, r#"/[^a-z0-9]+/, "_""#);
    });
    wrong.equal(
        "after an edit during the boot",
        see(&app, &server, "Slugger.call('A B')").0,
        "a_b",
    );

    app.remove("tmp/go");
    app.write("config/initializers/slugger.rb", "require 'slugger'\n");
    app.append("spec/rails_helper.rb", wait);
    during(&app, &server, &|| {
        app.edit("spec/support/json_helper.rb", "def json", "def parsed");
    });
    let methods = see(&app, &server, "JsonHelper.instance_methods.inspect").0;
    wrong.equal(
        "after an edit during the load of the helper",
        methods.as_str(),
        "[:parsed]",
    );
    wrong.none();
    server.stop();
}

/// Calls, changes something once the app waits for it, and lets the app go on.
fn during(app: &App, server: &Server, change: &dyn Fn()) {
    let call = server.begin(["spec/services/price_list_spec.rb"], json!({}));
    eventually("the app waits", || app.path("tmp/started").exists().then_some(()));
    change();
    app.write("tmp/go", "");
    let report = server.report(call);
    assert_eq!(report["outcome"], "passed", "{report}");
    app.remove("tmp/started");
}

/// Every call tells of the error until it is mended; nothing is ever answered from what was there before, or from half of it.
#[test]
fn code_that_does_not_load_again_is_told_by_every_call_until_it_is_mended() {
    let app = App::copy();
    let server = app.server();
    let request = "spec/requests/pages_spec.rb";
    let mut wrong = Deviations::default();
    wrong.equal("before", &server.run([request])["outcome"], "passed");
    app.edit("config/routes.rb", "resources :makers", "resources (:makers");
    for call in 1..=3 {
        let report = server.run([request]);
        let outcome = report["outcome"].as_str().unwrap_or("");
        let failed = ["reload_failed", "boot_failed"].contains(&outcome);
        wrong.check(failed, || format!("call {call} with broken routes: {report}"));
        wrong.equal("class", &report["error"]["class"], "SyntaxError");
        wrong.equal("file", &report["error"]["file"], "config/routes.rb");
        wrong.check(report["error"]["line"].is_u64(), || {
            format!("no line: {}", report["error"])
        });
    }
    app.edit("config/routes.rb", "resources (:makers", "resources :makers");
    wrong.equal("mended", &server.run([request])["outcome"], "passed");

    app.edit(
        "config/routes.rb",
        "root \"pages#home\"",
        "root \"pages#home\"\n  raise 'no way'",
    );
    let report = server.run([request]);
    wrong.check(has_text(&report["error"]["message"], "no way"), || format!("{report}"));
    app.edit("config/routes.rb", "\n  raise 'no way'", "");
    wrong.equal("mended", &server.run([request])["outcome"], "passed");

    let model = "spec/models/widget_spec.rb";
    app.edit("app/models/widget.rb", "def publish!", "def publish!(");
    for _ in 1..=2 {
        let report = server.run([model]);
        wrong.check(report["outcome"] != "passed", || format!("a broken model: {report}"));
        wrong.check(has_text(&report, "app/models/widget.rb"), || {
            format!("where it is broken: {report}")
        });
    }
    let other = server.run(["spec/lib/slugger_spec.rb"]);
    wrong.check(
        other["outcome"] == "passed" || has_text(&other, "app/models/widget.rb"),
        || format!("another: {other}"),
    );
    app.edit("app/models/widget.rb", "def publish!(", "def publish!");
    wrong.equal("mended", &server.run([model])["outcome"], "passed");
    wrong.none();
    server.stop();
}

/// An app that writes at boot what it reads at boot is used as it is, and not booted for ever.
#[test]
fn an_app_that_changes_its_own_inputs_is_not_booted_for_ever() {
    let app = App::copy();
    app.write(
        "config/initializers/writes.rb",
        r#"
File.write(Rails.root.join("config/generated.yml"), "at: #{Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)}\n")
File.write(Rails.root.join("lib/generated.rb"), "AT = #{Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)}\n")
require "generated"
"#,
    );
    let server = app.server();
    let mut boots = Vec::new();
    for _ in 0..5 {
        let report = server.run(["spec/services/price_list_spec.rb"]);
        assert_eq!(report["outcome"], "passed", "{report}");
        boots.push(server.at_rest()["boot_id"].clone());
    }
    assert_eq!(boots[2], boots[4], "it goes on booting: {boots:?}");
    app.edit("config/widgets.yml", "currency: EUR", "currency: DKK");
    assert_eq!(
        see(&app, &server, "Rails.configuration.x.widgets.currency").0,
        "DKK",
        "and edits are seen"
    );
    server.stop();
}

/// Whatever config/environments/test.rb says, with the old name and the new.
#[test]
fn it_makes_no_difference_whether_the_app_itself_would_reload() {
    let app = App::copy();
    app.edit(
        "config/environments/test.rb",
        "config.enable_reloading = false",
        "config.cache_classes = true",
    );
    app.edit(
        "config/environments/test.rb",
        "config.eager_load = ENV[\"CI\"].present?",
        "config.eager_load = true",
    );
    let server = app.server();
    let names = "Widget.reserved_names.first";
    assert_eq!(see(&app, &server, names).0, "nothing");
    app.edit(
        "app/models/widget.rb",
        "Rails.configuration.x.widgets.reserved_names",
        "%w[something]",
    );
    assert_eq!(see(&app, &server, names).0, "something");
    assert_eq!(server.at_rest()["boot_id"], 1);
    server.stop();
}

/// Bundler brings the lock up to date in that boot.
#[test]
fn a_gemfile_that_its_lock_does_not_know_yet_costs_one_boot() {
    let app = App::copy();
    let server = app.server();
    let rake = "defined?(Rake::VERSION).nil?";
    assert_eq!(see(&app, &server, rake).0, "true");
    let lock = app.read("Gemfile.lock");
    app.append("Gemfile", "gem 'rake', require: 'rake/version'\n");
    let (seen, report) = see(&app, &server, rake);
    assert_eq!(seen, "false", "{report}");
    assert_ne!(app.read("Gemfile.lock"), lock);
    let status = server.at_rest();
    assert_eq!(status["boot_id"], 2, "{status}");
    assert_eq!(status["last_trigger"], "rebooted: Gemfile was modified");
    server.stop();
}

const LEAVING: &[Case] = &[
    Case {
        name: "what code of the app has done to others",
        sees: "ActiveSupport::Notifications.instrument('mark') { }; \
               [''.respond_to?(:shout), ActiveSupport::Inflector.marked, $memo, Widget.new.mark, \
               MARKED.equal?(Marks), $marks.values].inspect",
        before: "[true, \"one\", \"one\", \"one\", true, [1, 1, 1]]",
        after: "[false, \"two\", \"two\", \"two\", true, [1, 1, 1]]",
        change: |app| {
            app.edit("app/models/marks.rb", "def shout = upcase", "");
            let text = app.read("app/models/marks.rb");
            app.write("app/models/marks.rb", text.replace("one", "two"));
        },
        effect: Effect::Reload,
        trigger: "app/models/marks.rb",
    },
    Case {
        name: "code below app/ that the boot required itself",
        sees: "Tagger::TAG",
        before: "one",
        after: "two",
        change: |app| {
            app.edit("app/middleware/tagger.rb", "one", "two");
        },
        effect: Effect::Reboot,
        trigger: "app/middleware/tagger.rb",
    },
    Case {
        name: "a second constant of a file",
        sees: "PricedLine.new(1).respond_to?(:old)",
        before: "true",
        after: "false",
        change: |app| {
            app.edit("app/models/priced.rb", "def old = 1", "");
        },
        effect: Effect::Reload,
        trigger: "app/models/priced.rb",
    },
    Case {
        name: "another file beside one that can't be loaded twice",
        sees: "[Widget.name, PricedLine.new(1).first].inspect",
        before: "[\"Widget\", 1]",
        after: "[\"Widget\", 1]",
        change: |app| {
            app.append("app/models/widget.rb", "# saved\n");
        },
        effect: Effect::Reload,
        trigger: "app/models/widget.rb",
    },
];

/// Changes what is not its own: a class of Ruby's, one of a gem's, global variables, who is told of events.
const MARKS: &str = r#"
module Marks
  module Marked
    def mark = "one"
  end
  class ::String
    def shout = upcase
  end
  ActiveSupport::Inflector.define_singleton_method(:marked) { "one" }
  $marks[:loaded] += 1
  $memo ||= "one"
  ActiveSupport::Notifications.subscribe("mark") { $marks[:heard] += 1 }
end
"#;

/// Also what Rails' own reloader does not know, and what it would leave in memory.
#[test]
fn nothing_of_the_old_code_is_left() {
    let app = App::copy();
    app.write("app/middleware/tagger.rb", "class Tagger\n  TAG = \"one\"\nend\n");
    app.edit(
        "config/application.rb",
        "require \"rails\"\n",
        "require \"rails\"\nrequire_relative \"../app/middleware/tagger\"\n",
    );
    app.write(
        "app/models/priced.rb",
        "class PricedLine < Struct.new(:first)\n  def old = 1\nend\n\nclass Priced\nend\n",
    );
    app.write("app/models/marks.rb", MARKS);
    app.write(
        "config/initializers/marks.rb",
        "$marks = Hash.new(0)\nRails.application.config.after_initialize { MARKED = Marks }\n\
         Rails.application.config.to_prepare { $marks[:prepared] += 1 }\n\
         ActiveSupport.on_load(:active_record) { include Marks::Marked }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    for case in LEAVING {
        try_out(&mut wrong, &app, &server, case);
    }
    wrong.none();
    server.stop();
}

/// Also below a directory where programs keep what is theirs, as /tmp is.
#[test]
fn what_lies_beside_the_app_in_its_repository_is_followed() {
    let app = App::copy();
    fs::create_dir(app.beside(".git")).expect("it can be made");
    fs::create_dir(app.beside("shared")).expect("it can be made");
    let shared = app.beside("shared").join("rates.txt");
    fs::write(&shared, "one").expect("it can be written");
    app.write(
        "config/initializers/rates.rb",
        "RATES = File.read(\"../shared/rates.txt\")\n",
    );
    let server = app.server();
    assert_eq!(see(&app, &server, "RATES").0, "one");
    fs::write(&shared, "two").expect("it can be written");
    let (seen, report) = see(&app, &server, "RATES");
    assert_eq!(seen, "two", "{report}");
    server.stop();
}

/// The path of a gem outside of the root is nobody's business.
#[test]
fn a_file_beside_the_root_is_named_from_there() {
    let app = App::copy();
    fs::rename(app.path("gems/money_math"), app.beside("money_math")).expect("it can be moved");
    app.edit("Gemfile", "gems/money_math", "../money_math");
    let server = app.server();
    let sum = "MoneyMath.add_percent(100, 10)";
    assert_eq!(see(&app, &server, sum).0, "110");
    let file = app.beside("money_math").join("lib/money_math.rb");
    let text = fs::read_to_string(&file).expect("it is there");
    fs::write(&file, text.replace(".quo(100).round", ".quo(100).round + 1")).expect("it can be written");
    let (seen, report) = see(&app, &server, sum);
    assert_eq!(seen, "111", "{report}");
    let named = "rebooted: ../money_math/lib/money_math.rb was modified";
    assert_eq!(server.at_rest()["last_trigger"], named);
    server.stop();
}

/// Past the transaction that an example is in, and that would take it back.
fn altering(statement: &str) -> String {
    format!("SQLite3::Database.new('storage/test.sqlite3').execute(\"{statement}\")")
}

/// In a process of its own, which leaves the tables so.
fn alter(app: &App, server: &Server, statement: &str) {
    let act = altering(statement);
    let text = format!("require 'rails_helper'\nRSpec.describe('tables') {{ it('alters') {{ {act} }} }}\n");
    app.write("spec/alter_spec.rb", text);
    let report = server.run_with(["spec/alter_spec.rb"], json!({"fork": "never"}));
    assert_eq!(report["outcome"], "passed", "{report}");
}

/// As `bin/rails db:migrate` in another terminal does, or a person at the console of the database.
#[test]
fn tables_that_another_process_alters_are_seen() {
    let app = App::copy();
    app.edit(
        "app/models/tag.rb",
        "class Tag < ApplicationRecord\n",
        "class Tag < ApplicationRecord\n  COLUMNS = column_names\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let columns = "[Widget.column_names.include?('heft'), Tag::COLUMNS.include?('heft')].inspect";
    wrong.equal("before", see(&app, &server, columns).0, "[false, false]");
    let warm = server.at_rest();
    alter(&app, &server, "ALTER TABLE widgets ADD COLUMN heft integer");
    alter(&app, &server, "ALTER TABLE tags ADD COLUMN heft integer");
    let (seen, report) = see(&app, &server, columns);
    wrong.equal("after", seen, "[true, true]");
    wrong.equal("what it cost", effect(&warm, &server.at_rest()), Effect::Reload);
    wrong.check(has_text(&report["trigger"], "tables of a database"), || {
        format!("{report}")
    });
    let warm = server.at_rest();
    wrong.equal("once", see(&app, &server, columns).0, "[true, true]");
    wrong.equal("and no more", effect(&warm, &server.at_rest()), Effect::Nothing);
    wrong.none();
    server.stop();
}

/// What classes saw of the tables was before the helper brought them up to date.
#[test]
fn classes_are_loaded_again_when_the_helper_has_migrated() {
    let app = App::copy();
    app.edit(
        "app/models/tag.rb",
        "class Tag < ApplicationRecord\n",
        "class Tag < ApplicationRecord\n  COLUMNS = (column_names rescue [])\n",
    );
    let server = app.server();
    let names = "Tag::COLUMNS.include?('label')";
    assert_eq!(see(&app, &server, names).0, "true", "the first boot found no tables");
    server.stop();
}

/// Each run finds what the last one left.
#[test]
fn runs_that_alter_tables_themselves_do_not_load_the_helper_for_ever() {
    let app = App::copy();
    let server = app.server();
    let table = altering("CREATE TABLE t#{Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)} (id)");
    let mut zygotes = Vec::new();
    for _ in 0..8 {
        let report = see(&app, &server, &table).1;
        assert_eq!(report["outcome"], "passed", "{report}");
        zygotes.push(server.at_rest()["zygote_pid"].clone());
    }
    assert_ne!(zygotes[0], zygotes[1], "{zygotes:?}");
    assert_eq!(zygotes[6], zygotes[7], "{zygotes:?}");
    server.stop();
}

/// What was read once and is no Ruby, and what was loaded without `require`.
const READ: &[Case] = &[
    Case {
        name: "a task that the helper loaded",
        sees: "Rake::Task['probe'].reenable; Rake::Task['probe'].invoke; $of_the_task",
        before: "1",
        after: "2",
        change: |app| {
            app.edit("lib/tasks/probe.rake", "= 1", "= 2");
        },
        effect: Effect::Helper,
        trigger: "lib/tasks/probe.rake",
    },
    Case {
        name: "data that the helper read",
        sees: "DATA_OF_THE_HELPER",
        before: "one",
        after: "two",
        change: |app| {
            app.write("spec/fixtures/helper.txt", "two");
        },
        effect: Effect::Helper,
        trigger: "spec/fixtures/helper.txt",
    },
    Case {
        name: "data that a class read when it was loaded",
        sees: "Colours::ALL",
        before: "red",
        after: "blue",
        change: |app| {
            app.write("app/models/colours.txt", "blue");
        },
        effect: Effect::Reload,
        trigger: "app/models/colours.txt",
    },
    Case {
        name: "data that an initializer read",
        sees: "DATA_OF_THE_BOOT",
        before: "one",
        after: "two",
        change: |app| {
            app.write("data/boot.txt", "two");
        },
        effect: Effect::Reboot,
        trigger: "data/boot.txt",
    },
    Case {
        name: "a new file beside those that an initializer required",
        sees: "$of_the_extras",
        before: "1",
        after: "2",
        change: |app| {
            app.write("extras/b.rb", "$of_the_extras = 2\n");
        },
        effect: Effect::Reboot,
        trigger: "extras/b.rb",
    },
    Case {
        name: "the specification of a gem by path",
        sees: "Gem.loaded_specs['money_math'].summary",
        before: "Arithmetic on cents",
        after: "Sums",
        change: |app| {
            app.edit("gems/money_math/money_math.gemspec", "Arithmetic on cents", "Sums");
        },
        effect: Effect::Reboot,
        trigger: "gems/money_math/money_math.gemspec",
    },
    Case {
        name: "data that a library read while a class was loaded",
        sees: "TARIFFS",
        before: "low",
        after: "high",
        change: |app| {
            app.write("data/tariffs.txt", "high");
        },
        effect: Effect::Reboot,
        trigger: "data/tariffs.txt",
    },
    Case {
        name: "a new file that a class lists",
        sees: "Colours::FILES.join(' ')",
        before: "red.colour",
        after: "blue.colour red.colour",
        change: |app| {
            app.write("app/models/blue.colour", "");
        },
        effect: Effect::Reload,
        trigger: "app/models/blue.colour",
    },
    Case {
        name: "a new task that the helper loads",
        sees: "Rake::Task.task_defined?('another')",
        before: "false",
        after: "true",
        change: |app| {
            app.write("lib/tasks/another.rake", "task(:another)\n");
        },
        effect: Effect::Helper,
        trigger: "lib/tasks/another.rake",
    },
    Case {
        name: "data that nobody read",
        sees: "1",
        before: "1",
        after: "1",
        change: |app| {
            app.write("data/unread.txt", "two");
            app.write("spec/fixtures/unread.txt", "two");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
    Case {
        name: "what an initializer writes itself",
        sees: "File.read('data/made.txt') + OF_ITS_OWN",
        before: "mademade",
        after: "changedmade",
        change: |app| {
            app.write("data/made.txt", "changed");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
];

/// All the ways in which an initializer may read.
const WAYS: &[Case] = &[
    Case {
        name: "data in another encoding",
        sees: "ENCODED",
        before: "1",
        after: "2",
        change: |app| {
            app.write("data/encoded.txt", "2");
        },
        effect: Effect::Reboot,
        trigger: "data/encoded.txt",
    },
    Case {
        name: "data that might have been changed, too",
        sees: "OPENED_FOR_BOTH",
        before: "1",
        after: "2",
        change: |app| {
            app.write("data/both.txt", "2");
        },
        effect: Effect::Reboot,
        trigger: "data/both.txt",
    },
    Case {
        name: "code that an initializer loads",
        sees: "$of_the_loaded",
        before: "1",
        after: "2",
        change: |app| {
            app.write("extras/loaded.code", "$of_the_loaded = 2\n");
        },
        effect: Effect::Reboot,
        trigger: "extras/loaded.code",
    },
    Case {
        name: "code that an initializer evaluates",
        sees: "$of_the_evaluated",
        before: "1",
        after: "2",
        change: |app| {
            app.write("extras/evaluated.code", "$of_the_evaluated = 2\n");
        },
        effect: Effect::Reboot,
        trigger: "extras/evaluated.code",
    },
    Case {
        name: "lines that an initializer read",
        sees: "LINES_OF_THE_BOOT",
        before: "1",
        after: "2",
        change: |app| {
            app.write("data/lines.txt", "2");
        },
        effect: Effect::Reboot,
        trigger: "data/lines.txt",
    },
    Case {
        name: "JSON that an initializer read",
        sees: "JSON_OF_THE_BOOT",
        before: "1",
        after: "2",
        change: |app| {
            app.write("data/boot.json", "2");
        },
        effect: Effect::Reboot,
        trigger: "data/boot.json",
    },
    Case {
        name: "YAML that an initializer read",
        sees: "YAML_OF_THE_BOOT",
        before: "1",
        after: "2",
        change: |app| {
            app.write("data/boot.yml", "2");
        },
        effect: Effect::Reboot,
        trigger: "data/boot.yml",
    },
    Case {
        name: "data that was not there at boot",
        sees: "OPTIONAL",
        before: "none",
        after: "some",
        change: |app| {
            app.write("data/optional.txt", "some");
        },
        effect: Effect::Reboot,
        trigger: "data/optional.txt",
    },
];

/// Whether something is there, as an initializer may ask, and what it lists by its ending.
const LOOKS: &[Case] = &[
    Case {
        name: "a library that an initializer asked for in vain",
        sees: "$of_the_extra.inspect",
        before: "nil",
        after: "1",
        change: |app| {
            app.write("lib/optional/extra.rb", "$of_the_extra = 1\n");
        },
        effect: Effect::Reboot,
        trigger: "lib/optional",
    },
    Case {
        name: "a file whose size an initializer asked for",
        sees: "SIZED.inspect",
        before: "nil",
        after: "3",
        change: |app| {
            app.write("data/sized", "123");
        },
        effect: Effect::Reboot,
        trigger: "data/sized",
    },
    Case {
        name: "a file that an initializer looked for",
        sees: "FLAGS.inspect",
        before: "[false, false, false]",
        after: "[true, false, false]",
        change: |app| {
            app.write("data/flag", "");
        },
        effect: Effect::Reboot,
        trigger: "data/flag",
    },
    Case {
        name: "a file that an initializer looked for as a path",
        sees: "FLAGS.inspect",
        before: "[true, false, false]",
        after: "[true, true, false]",
        change: |app| {
            app.write("data/[flag]", "");
        },
        effect: Effect::Reboot,
        trigger: "data/[flag]",
    },
    Case {
        name: "a directory that an initializer looked for",
        sees: "FLAGS.inspect",
        before: "[true, true, false]",
        after: "[true, true, true]",
        change: |app| {
            app.write("data/flags/one", "");
        },
        effect: Effect::Reboot,
        trigger: "data/flags",
    },
    Case {
        name: "what an initializer looked for and is gone",
        sees: "FLAGS.inspect",
        before: "[true, true, true]",
        after: "[false, true, true]",
        change: |app| {
            app.remove("data/flag");
        },
        effect: Effect::Reboot,
        trigger: "data/flag",
    },
    Case {
        name: "what an initializer has only seen to be there",
        sees: "FLAGS.inspect",
        before: "[false, true, true]",
        after: "[false, true, true]",
        change: |app| {
            app.write("data/[flag]", "more");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
    Case {
        name: "a page of Markdown that an initializer listed",
        sees: "PAGES.join(' ')",
        before: "one.md",
        after: "one.md two.md",
        change: |app| {
            app.write("data/two.md", "");
        },
        effect: Effect::Reboot,
        trigger: "data/two.md",
    },
];

/// Ways round: what is read or loaded is not where one would look for it.
const DETOURS: &[Case] = &[
    Case {
        name: "data that config/database.yml reads",
        sees: "ActiveRecord::Base.connection_db_config.configuration_hash[:timeout]",
        before: "4321",
        after: "1234",
        change: |app| {
            app.write("data/timeout.txt", "1234");
        },
        effect: Effect::Reload,
        trigger: "data/timeout.txt",
    },
    Case {
        name: "an initializer behind a link",
        sees: "$behind_a_link",
        before: "1",
        after: "2",
        change: |app| {
            app.write("shared/initializer.rb", "$behind_a_link = 2\n");
        },
        effect: Effect::Reboot,
        trigger: "config/initializers/linked.rb",
    },
    Case {
        name: "a link that leads elsewhere",
        sees: "$behind_a_link",
        before: "2",
        after: "3",
        change: |app| {
            app.write("shared/other.rb", "$behind_a_link = 3\n");
            relink(app, "shared/other.rb", "config/initializers/linked.rb");
        },
        effect: Effect::Reboot,
        trigger: "config/initializers/linked.rb",
    },
    Case {
        name: "a file of lib/ that the helper requires by its place",
        sees: "FOR_SPECS",
        before: "1",
        after: "2",
        change: |app| {
            app.write("lib/for_specs.rb", "FOR_SPECS = 2\n");
        },
        effect: Effect::Reboot,
        trigger: "lib/for_specs.rb",
    },
    Case {
        name: "a support file behind a link",
        sees: "$support_behind_a_link",
        before: "1",
        after: "2",
        change: |app| {
            app.write("shared/support.rb", "$support_behind_a_link = 2\n");
        },
        effect: Effect::Helper,
        trigger: "spec/support/linked.rb",
    },
    Case {
        name: "a partial that the helper has rendered",
        sees: "RENDERED + ApplicationController.render(partial: 'pages/probe')",
        before: "oneone",
        after: "twotwo",
        change: |app| {
            app.write("app/views/pages/_probe.html.erb", "two");
        },
        effect: Effect::Helper,
        trigger: "app/views/pages/_probe.html.erb",
    },
    Case {
        name: "a new file of a gem by path that lists its own",
        sees: "MoneyMath::PARTS.join(' ')",
        before: "one",
        after: "one two",
        change: |app| {
            app.write("gems/money_math/lib/money_math/two.rb", "MoneyMath::PARTS << :two\n");
        },
        effect: Effect::Reboot,
        trigger: "gems/money_math/lib/money_math/two.rb",
    },
    Case {
        name: "a module that a helper of views includes",
        sees: "ApplicationController.helpers.shout",
        before: "loud",
        after: "louder",
        change: |app| {
            app.write(
                "app/helpers/concerns_of_views.rb",
                "module ConcernsOfViews\n  def shout = 'louder'\nend\n",
            );
        },
        effect: Effect::Reload,
        trigger: "app/helpers/concerns_of_views.rb",
    },
    Case {
        name: "a file that becomes a directory",
        sees: "[Object.const_defined?('Crate'), Object.const_defined?('Crate::Lid')].inspect",
        before: "[true, false]",
        after: "[true, true]",
        change: |app| {
            app.remove("app/models/crate.rb");
            app.write("app/models/crate.rb/none.txt", "");
            app.write("app/models/crate/lid.rb", "class Crate::Lid\nend\n");
        },
        effect: Effect::Reload,
        trigger: "app/models/crate",
    },
    Case {
        name: "many files at once",
        sees: "(0...300).count { |number| Object.const_defined?(\"Many#{number}\") }",
        before: "0",
        after: "300",
        change: |app| {
            for number in 0..300_u32 {
                app.write(
                    &format!("app/models/many{number}.rb"),
                    format!("class Many{number}\nend\n"),
                );
            }
        },
        effect: Effect::Reload,
        trigger: "app/models/many",
    },
];

fn relink(app: &App, to: &str, link: &str) {
    let _ = fs::remove_file(app.path(link));
    std::os::unix::fs::symlink(app.path(to), app.path(link)).expect("a link");
}

#[test]
fn what_is_read_by_a_detour_is_known() {
    let app = App::copy();
    app.write("data/timeout.txt", "4321");
    app.edit(
        "config/database.yml",
        "timeout: 5000",
        "timeout: <%= File.read(Rails.root.join(\"data/timeout.txt\")) %>",
    );
    app.write("shared/initializer.rb", "$behind_a_link = 1\n");
    relink(&app, "shared/initializer.rb", "config/initializers/linked.rb");
    app.write("shared/support.rb", "$support_behind_a_link = 1\n");
    relink(&app, "shared/support.rb", "spec/support/linked.rb");
    app.write("lib/for_specs.rb", "FOR_SPECS = 1\n");
    app.append("spec/spec_helper.rb", "require_relative \"../lib/for_specs\"\n");
    app.write("app/views/pages/_probe.html.erb", "one");
    app.append(
        "spec/rails_helper.rb",
        "RENDERED = ApplicationController.render(partial: \"pages/probe\")\n",
    );
    app.append(
        "gems/money_math/lib/money_math.rb",
        "\nMoneyMath::PARTS = []\nDir[File.expand_path(\"money_math/*.rb\", __dir__)].sort.each { |part| require part }\n",
    );
    app.write("gems/money_math/lib/money_math/one.rb", "MoneyMath::PARTS << :one\n");
    app.write(
        "app/helpers/concerns_of_views.rb",
        "module ConcernsOfViews\n  def shout = 'loud'\nend\n",
    );
    app.write(
        "app/helpers/loud_helper.rb",
        "module LoudHelper\n  include ConcernsOfViews\nend\n",
    );
    app.write("app/models/crate.rb", "class Crate\nend\n");
    let server = app.server();
    let mut wrong = Deviations::default();
    for case in DETOURS {
        try_out(&mut wrong, &app, &server, case);
    }
    wrong.none();
    server.stop();
}

/// What comes to be where the boot looked.
const APPEARS: &[Case] = &[
    Case {
        name: "a new locale in a nested directory that was listed",
        sees: "I18n.t('brand_new', default: 'no')",
        before: "no",
        after: "yes",
        change: |app| {
            app.write("lib/texts/deep/new.en.yml", "en:\n  brand_new: \"yes\"\n");
        },
        effect: Effect::Reboot,
        trigger: "lib/texts/deep/new.en.yml",
    },
    Case {
        name: "a new locale of the app",
        sees: "I18n.t('newer', default: 'no')",
        before: "no",
        after: "yes",
        change: |app| {
            app.write("config/locales/newer.en.yml", "en:\n  newer: \"yes\"\n");
        },
        effect: Effect::Reload,
        trigger: "config/locales/newer.en.yml",
    },
    Case {
        name: "a new file in a directory that is autoloaded once",
        sees: "defined?(Once::New).inspect",
        before: "nil",
        after: "\"constant\"",
        change: |app| {
            app.write("app/once/once/new.rb", "module Once\n  New = 1\nend\n");
        },
        effect: Effect::Reboot,
        trigger: "app/once/once/new.rb",
    },
    Case {
        name: "a new file of a loader that the app made",
        sees: "Object.const_defined?('Toolbox::Saw')",
        before: "false",
        after: "true",
        change: |app| {
            app.write("lib/toolbox/saw.rb", "module Toolbox\n  Saw = 1\nend\n");
        },
        effect: Effect::Reboot,
        trigger: "lib/toolbox/saw.rb",
    },
    Case {
        name: "an autoload directory that was not there",
        sees: "Object.const_defined?('Plugin')",
        before: "false",
        after: "true",
        change: |app| {
            app.write("plugins/ruby/plugin.rb", "Plugin = 1\n");
        },
        effect: Effect::Reboot,
        trigger: "plugins/ruby",
    },
    Case {
        name: "a new pack",
        sees: "Object.const_defined?('Depot')",
        before: "false",
        after: "true",
        change: |app| {
            app.write("packs/storage/app/models/depot.rb", "class Depot\nend\n");
        },
        effect: Effect::Reboot,
        trigger: "packs/storage/app/models",
    },
    Case {
        name: "a new model behind a link to a directory",
        sees: "Object.const_defined?('Linked::New')",
        before: "false",
        after: "true",
        change: |app| {
            app.write("shared/models/linked/new.rb", "module Linked\n  New = 1\nend\n");
        },
        effect: Effect::Reload,
        trigger: "app/models/linked/new.rb",
    },
    Case {
        name: "a new view",
        sees: "ApplicationController.render(template: 'widgets/brand_new', layout: false)",
        before: "(nothing)",
        after: "shiny",
        change: |app| {
            app.write("app/views/widgets/brand_new.html.erb", "shiny");
        },
        effect: Effect::Nothing,
        trigger: "",
    },
];

#[test]
fn what_comes_to_be_where_the_boot_looked_is_seen() {
    let app = App::copy();
    app.write("lib/texts/old.en.yml", "en:\n  old: \"yes\"\n");
    app.write("app/once/once/old.rb", "module Once\n  Old = 1\nend\n");
    app.write("lib/toolbox.rb", "module Toolbox\nend\n");
    app.write("lib/toolbox/hammer.rb", "module Toolbox\n  Hammer = 1\nend\n");
    app.write("shared/models/linked/old.rb", "module Linked\n  Old = 1\nend\n");
    std::os::unix::fs::symlink(app.path("shared/models/linked"), app.path("app/models/linked")).expect("a link");
    app.edit(
        "config/application.rb",
        "config.i18n.available",
        r#"config.i18n.load_path += Dir[root.join("lib/texts/**/*.yml")]
    config.autoload_once_paths << root.join("app/once").to_s
    config.autoload_paths << root.join("plugins/ruby").to_s
    config.i18n.available"#,
    );
    app.write(
        "config/initializers/toolbox.rb",
        r#"
require "toolbox"
loader = Zeitwerk::Loader.new
loader.push_dir(Rails.root.join("lib/toolbox").to_s, namespace: Toolbox)
loader.setup
"#,
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    for case in APPEARS {
        try_out(&mut wrong, &app, &server, case);
    }
    wrong.none();
    server.stop();
}

#[test]
fn whatever_way_the_boot_reads_is_known() {
    all_of(WAYS, &App::copy());
}

#[test]
fn what_the_boot_looked_for_is_seen_when_it_comes_or_goes() {
    all_of(LOOKS, &App::copy());
}

#[test]
fn what_was_read_once_is_seen_when_it_changes() {
    let app = App::copy();
    app.write("lib/tasks/probe.rake", "task(:probe) { $of_the_task = 1 }\n");
    app.write("spec/fixtures/helper.txt", "one");
    app.append(
        "spec/rails_helper.rb",
        "Rails.application.load_tasks\nDATA_OF_THE_HELPER = File.read(\"spec/fixtures/helper.txt\")\n",
    );
    app.write("app/models/colours.txt", "red");
    app.write("app/models/red.colour", "");
    app.write(
        "app/models/colours.rb",
        r#"
require Rails.root.join("extras/tariffs").to_s

class Colours
  ALL = File.read(File.expand_path("colours.txt", __dir__))
  FILES = Dir.glob("*.colour", base: __dir__).sort
end
"#,
    );
    app.write("extras/tariffs.rb", "TARIFFS = File.read(\"data/tariffs.txt\")\n");
    app.write("data/tariffs.txt", "low");
    all_of(READ, &app);
}

/// With an initializer that reads in every way.
fn all_of(cases: &[Case], app: &App) {
    for (path, text) in [
        ("data/boot.txt", "one"),
        ("data/boot.yml", "1"),
        ("data/boot.json", "1"),
        ("data/lines.txt", "1"),
        ("data/one.md", ""),
        ("data/encoded.txt", "1"),
        ("data/both.txt", "1"),
        ("extras/a.rb", "$of_the_extras = 1\n"),
        ("extras/loaded.code", "$of_the_loaded = 1\n"),
        ("extras/evaluated.code", "$of_the_evaluated = 1\n"),
    ] {
        app.write(path, text);
    }
    app.write(
        "config/initializers/reads.rb",
        r#"
require "json"
DATA_OF_THE_BOOT = File.read("data/boot.txt")
Dir[Rails.root.join("extras/*.rb")].sort.each { |file| require file }
load "extras/loaded.code"
TOPLEVEL_BINDING.eval(File.read("extras/evaluated.code"))
YAML_OF_THE_BOOT = YAML.load_file("data/boot.yml")
JSON_OF_THE_BOOT = JSON.load_file("data/boot.json")
LINES_OF_THE_BOOT = File.foreach(Rails.root.join("data/lines.txt")).first
OPTIONAL = begin
  File.open("data/optional.txt", &:read)
rescue Errno::ENOENT
  "none"
end
FLAGS = [File.exist?("data/flag"), Rails.root.join("data/[flag]").file?, Dir.exist?(Rails.root.join("data/flags"))]
PAGES = Dir[Rails.root.join("data/*.md")].map { |page| File.basename(page) }.sort
ENCODED = File.open("data/encoded.txt", "r:windows-1252:utf-8", &:read)
OPENED_FOR_BOTH = File.open("data/both.txt", File::RDWR | File::CREAT, &:read)
SIZED = File.size?("data/sized")
begin
  require "optional/extra"
rescue LoadError
  $of_the_extra = nil
end
File.write("data/made.txt", "made")
OF_ITS_OWN = File.read("data/made.txt")
"#,
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    for case in cases {
        try_out(&mut wrong, app, &server, case);
    }
    wrong.none();
    server.stop();
}
