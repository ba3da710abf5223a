//! The worker waits half-way through the boot, and forks of it go on from there. Nothing of that shows: neither in what
//! the app's code meets, nor in what is noticed of a change.

use serde_json::json;

use crate::support::{App, Deviations, has_text, see};

/// Rails' own hooks ask for classes of the app by their names, the app's hooks may do it by themselves.
#[test]
fn what_tells_the_app_of_itself_is_loaded_as_in_a_fresh_process() {
    let app = App::copy();
    app.write(
        "app/mailers/stamp.rb",
        "class Stamp\n  def self.delivering_email(mail) = mail.subject = \"stamped\"\nend\n",
    );
    app.write(
        "app/models/louder.rb",
        "class Louder < ApplicationRecord\n  shout\nend\n",
    );
    app.write(
        "app/models/concerns/shouting.rb",
        "module Shouting\n  def shout = (@shouts ||= []) << name\n  def shouts = @shouts\nend\n",
    );
    app.write(
        "config/initializers/hooks.rb",
        "Rails.application.config.action_mailer.interceptors = %w[Stamp]\n\
         $ran = Hash.new(0)\n\
         ActiveSupport.on_load(:active_record) { $ran[:record] += 1; extend Shouting }\n\
         ActiveSupport.on_load(:action_mailer) { $ran[:mailer] += 1 }\n\
         ActiveSupport.on_load(:action_controller_api) { raise 'nobody has such a controller' }\n\
         Rails.autoloaders.main.on_setup { Louder }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let expression = "mail = Class.new(ActionMailer::Base) { def self.name = 'M'; \
                      def hi = mail(to: 'a@b.c', from: 'd@e.f', subject: 'hi', body: '') }.hi.deliver_now; \
                      [mail.subject, $ran.values, Louder.shouts].inspect";
    let expected = "[\"stamped\", [1, 1], [\"Louder\"]]";
    wrong.equal("at first", see(&app, &server, expression).0, expected);
    app.append("app/models/louder.rb", "# saved\n");
    wrong.equal("after a save", see(&app, &server, expression).0, expected);
    wrong.equal("boots", &server.at_rest()["boot_id"], 1);
    wrong.none();
    server.stop();
}

/// Each with what it costs to notice: the worker has made these lists, or asked for these tables.
#[test]
fn what_only_the_worker_knows_costs_a_boot() {
    let app = App::copy();
    app.edit(
        "config/application.rb",
        "module Widgetry\n",
        "module Widgetry\n  ROUTES = { with: \"config/routes\", glob: \"*.rb\" }.freeze\n",
    );
    app.edit(
        "config/application.rb",
        "    config.paths.add \"packs\"",
        "    config.paths.add \"config/routes.rb\", **ROUTES\n    config.paths.add \"packs\"",
    );
    let routes = app.read("config/routes.rb");
    app.remove("config/routes.rb");
    app.write("config/routes/all.rb", routes);
    app.write(
        "config/initializers/lists.rb",
        "Rails.autoloaders.main.ignore(Rails.root.join(\"app/models/**/*_stub.rb\"))\n\
         require \"factory_bot\"\nFactoryBot.definition_file_paths = [\"spec/factories\"]\nFactoryBot.find_definitions\n\
         $tables = ActiveRecord::Base.connection.tables\n",
    );
    app.edit(
        "spec/support/factory_bot.rb",
        "FactoryBot.find_definitions",
        "FactoryBot.find_definitions if FactoryBot.factories.none?",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let expression = "[Rails.application.routes.named_routes.key?(:new_one), Object.const_defined?(:WheelStub), \
                      FactoryBot.factories.registered?(:zed)].inspect";
    wrong.equal("at first", see(&app, &server, expression).0, "[false, false, false]");
    let boots = |wrong: &mut Deviations, what: &str, boots: i64| {
        wrong.equal(what, &server.at_rest()["boot_id"], boots);
    };
    boots(&mut wrong, "at first", 1);
    app.write(
        "config/routes/one.rb",
        "Rails.application.routes.draw { get 'new_one', to: 'pages#home', as: :new_one }\n",
    );
    wrong.equal("routes", see(&app, &server, expression).0, "[true, false, false]");
    boots(&mut wrong, "routes", 2);
    app.write("app/models/wheel_stub.rb", "raise 'it is to be ignored'\n");
    wrong.equal("ignored", see(&app, &server, expression).0, "[true, false, false]");
    boots(&mut wrong, "ignored", 3);
    app.write(
        "spec/factories/zed.rb",
        "FactoryBot.define { factory(:zed, class: 'Tag') }\n",
    );
    wrong.equal("factories", see(&app, &server, expression).0, "[true, false, true]");
    boots(&mut wrong, "factories", 4);
    let alter = "SQLite3::Database.new('storage/test.sqlite3').execute('CREATE TABLE zeds (id)'); 0";
    see(&app, &server, alter);
    wrong.equal("tables", see(&app, &server, "$tables.include?('zeds')").0, "true");
    boots(&mut wrong, "tables", 5);
    wrong.none();
    server.stop();
}

/// A loader that is made by `after_initialize` is made again in each fork.
#[test]
fn code_that_the_app_itself_finds_by_name_is_followed() {
    let app = App::copy();
    app.write("lib/plug/tick.rb", "module Plug\n  TICK = 1\nend\n");
    app.write("lib/plug.rb", "module Plug\nend\n");
    app.write(
        "config/initializers/plug.rb",
        "Rails.application.config.after_initialize do\n  loader = Zeitwerk::Loader.new\n  \
         loader.push_dir(Rails.root.join(\"lib/plugs\").tap(&:mkpath))\n  loader.setup\nend\n",
    );
    let server = app.server();
    let expression = "Object.const_defined?(:Tock)";
    assert_eq!(see(&app, &server, expression).0, "false");
    app.write("lib/plugs/tock.rb", "Tock = 1\n");
    let (seen, report) = see(&app, &server, expression);
    assert_eq!(seen, "true", "{report}");
    assert_eq!(server.at_rest()["boot_id"], 1);
    server.stop();
}

/// What the first half has begun is there in the second one: then the boot has no halves, and an edit takes another.
#[test]
fn a_boot_that_can_not_be_halved_is_made_as_a_whole() {
    for (what, initializer, expression) in [
        (
            "a thread",
            "$count = Thread::Queue.new\nThread.new { sleep 0.1 while $count.num_waiting.zero?; $count << 7 }.name = 'my own poller'\n\
             Rails.application.config.after_initialize { SEEN = $count.pop(timeout: 60) }\n",
            "SEEN",
        ),
        (
            "a process",
            "$child = spawn(\"sleep 0.2; exit 7\")\n\
             Rails.application.config.after_initialize { SEEN = Process.wait2($child).last.exitstatus }\n",
            "SEEN",
        ),
        ("a fiber", "", "Fiber.new { 7 }.resume"),
    ] {
        let app = App::copy();
        app.write("config/initializers/begun.rb", initializer);
        if initializer.is_empty() {
            app.edit(
                "config/environment.rb",
                "Rails.application.initialize!",
                "Fiber.new { Rails.application.initialize! }.resume",
            );
        }
        let server = app.server();
        let mut wrong = Deviations::default();
        let expression = format!("[{expression}, Widget.respond_to?(:shout)].inspect");
        wrong.equal(what, see(&app, &server, &expression).0, "[7, false]");
        app.append("app/models/widget.rb", "def Widget.shout = 1\n");
        wrong.equal(what, see(&app, &server, &expression).0, "[7, true]");
        wrong.equal(what, &server.at_rest()["boot_id"], 2);
        wrong.none();
        server.stop();
    }
}

/// An exception of a thread may end any wait, also that of the worker.
#[test]
fn whatever_ends_the_wait_of_the_worker_costs_a_boot_and_no_more() {
    let app = App::copy();
    app.write(
        "config/initializers/late.rb",
        "Thread.abort_on_exception = true\n\
         Thread.new { sleep 0.05 until File.exist?('tmp/raise'); raise 'late' }\n",
    );
    let server = app.server();
    assert_eq!(see(&app, &server, "1").0, "1");
    let before = server.at_rest()["worker_pid"].clone();
    app.write("tmp/raise", "");
    let pid = i32::try_from(before.as_i64().expect("a pid")).expect("a pid");
    server.ended(pid);
    app.remove("tmp/raise");
    app.append("app/models/widget.rb", "# saved\n");
    let (seen, report) = see(&app, &server, "1");
    assert_eq!(seen, "1", "{report}");
    assert_ne!(server.at_rest()["worker_pid"], before);
    server.stop();
}

#[test]
fn an_app_that_kills_the_worker_each_time_is_given_up() {
    let app = App::copy();
    app.write(
        "config/initializers/kills.rb",
        "Rails.application.config.after_initialize { Process.kill(:KILL, Process.ppid); sleep }\n",
    );
    let server = app.server();
    let (_, report) = see(&app, &server, "1");
    assert_eq!(report["outcome"], "boot_failed", "{report}");
    assert_eq!(report["error"]["class"], "AppDied", "{report}");
    app.remove("config/initializers/kills.rb");
    assert_eq!(see(&app, &server, "1").0, "1");
    server.stop();
}

/// One that needs what only the test helper has fails when all are loaded, and has done half of its work by then.
#[test]
fn no_class_is_loaded_on_top_of_its_half() {
    let app = App::copy();
    app.write("spec/support/stamped.rb", "module Stamped\nend\n");
    app.edit(
        "app/models/tag.rb",
        "class Tag < ApplicationRecord\n",
        "class Tag < ApplicationRecord\n  validate { errors.add(:base, 'no') }\n  include Stamped\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let expression = "Tag.new.tap(&:valid?).errors[:base].inspect";
    for _ in 0..2 {
        wrong.equal("errors", see(&app, &server, expression).0, "[\"no\"]");
        app.append("app/models/tag.rb", "# saved\n");
    }
    let status = server.at_rest();
    wrong.check(has_text(&status["eager_load_error"], "Stamped"), || status.to_string());
    let told = server.call("rails_model", json!({"name": "Tag"})).wait().refusal();
    wrong.check(has_text(&told["message"], "Stamped"), || told.to_string());
    // The others are there all the same.
    let told = server.call("rails_model", json!({"name": "Widget"})).wait();
    wrong.check(has_text(&told.success(&json!({})), "widgets"), || {
        "no Widget".to_owned()
    });
    wrong.none();
    server.stop();
}
