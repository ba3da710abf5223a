# frozen_string_literal: true

require_relative "reading_helper"

# What is told of models, tables, jobs, mailers and channels of the fixture app.

class ModelTest < Minitest::Test
  include Asking

  def teardown
    execute("DROP TABLE IF EXISTS extras")
  end

  def test_a_missing_table_is_not_a_table_without_columns
    extra = model("Extra", :columns, :associations)
    refute(extra.key?(:columns))
    assert_equal("widget_id", extra[:associations].first[:foreign_key])
    assert_equal([["table_not_found", %w[columns indexes foreign_keys attributes sti]]],
                 extra[:errors].map { |error| error.values_at(:code, :fields) })
    assert_match(/`extras` in the test database `primary`/, extra[:errors].first[:message])
  end

  def test_a_table_that_came_went_or_changed_is_told_as_it_is_now
    execute("CREATE TABLE extras (id integer primary key, widget_id integer)")
    assert_equal(%w[id widget_id], columns("Extra"))
    execute("ALTER TABLE extras ADD COLUMN note text")
    assert_equal(%w[id widget_id note], columns("Extra"))
    execute("DROP TABLE extras")
    assert_equal("table_not_found", model("Extra")[:errors].first[:code])
  end

  def test_a_key_that_changed_is_told_as_it_is_now
    { "a integer, b integer, primary key (a, b)" => %w[a b], "code text primary key" => "code" }.each do |columns, key|
      execute("CREATE TABLE extras (#{columns})")
      assert_equal(key, model("Extra")[:primary_key])
      execute("DROP TABLE extras")
    end
  end

  def columns(name) = model(name, :columns)[:columns].map { |column| column[:name] }

  def test_a_base_class_has_no_table_and_is_no_error
    base = model("ApplicationRecord", *FIELDS)
    assert_equal(true, base[:abstract_class])
    refute(base.key?(:table_name))
    refute(base.key?(:errors))
  end

  def test_keys_of_several_columns_are_lists
    assert_equal(%w[order_ref position], model("LineItem")[:primary_key])
    note = model("LineNote", :associations)[:associations].first
    assert_equal(%w[order_ref position], note[:foreign_key])
    assert_equal("ops_things", model("Ops::Thing")[:table_name])
    assert_equal("audit", model("Event")[:database])
  end

  def test_validators_of_every_kind_are_told
    told = model("Widget", :validators)[:validators]
    options = told.to_h { |one| [one[:name].split("::").last, one[:options]] }
    assert_equal({ with: "/\\A[[:print:]]+\\z/" }, options["FormatValidator"])
    assert_equal("1..Infinity", options["InclusionValidator"][:in])
    assert_equal("proc at app/models/widget.rb:18", options["ExclusionValidator"][:in])
    own = [{ name: "PriceLimitValidator", at: "app/validators/price_limit_validator.rb:3" },
           { name: "anonymous subclass of ActiveModel::Validator", at: "app/models/widget.rb:22" }]
    assert_equal(own, told.last(2))
  end

  def test_a_child_shares_the_table_of_its_base
    gadget = model("Gadget", :sti)
    assert_equal("widgets", gadget[:table_name])
    assert_equal(%w[Widget Gadget], gadget[:sti].values_at(:base_class, :type))
    refute(model("Event", :sti).key?(:sti))
  end

  def test_an_association_that_leads_nowhere_is_told_as_far_as_it_goes
    batch, rows, comments = model("Legacy::Import", :associations)[:associations]
    assert_equal(%w[VanishedBatch vanished_batch_id], batch.values_at(:class_name, :foreign_key))
    assert_match(/\ANameError: .*VanishedBatch/, batch[:error])
    assert_equal([nil, nil], [rows[:error], comments[:error]])
    assert_equal("importable", comments[:as])
  end

  def test_what_belongs_to_many_keeps_its_macro_and_hides_its_join
    widget = model("Widget", :associations)
    names = widget[:associations].map { |one| one[:name] }
    assert_equal(%w[maker parts suppliers comments latest_comment tags], names)
    tags = widget[:associations].last
    assert_equal(%w[has_and_belongs_to_many Tag tags_widgets], tags.values_at(:macro, :class_name, :join_table))
    assert_empty(ask("model")[:models].select { |row| row[:name].include?("HABTM") })
  end

  def test_scopes_have_places_and_those_of_enums_say_so
    scopes = model("Widget", :scopes)[:scopes].to_h { |scope| [scope[:name], scope[:at] || scope[:enum]] }
    assert_equal("app/models/widget.rb:30", scopes["cheaper_than"])
    assert_equal("app/models/concerns/sluggable.rb:8", scopes["slugged"])
    assert_equal([true, true], scopes.values_at("kind_big", "not_live"))
  end

  def test_of_several_names_each_is_told_by_itself
    told = ask("model", names: %w[Event Evnt Kernel])[:models]
    assert_equal([nil, "model_not_found", "model_not_found"], told.map { |one| one.dig(:error, :code) })
    assert_equal("did you mean `Event`?", told[1][:error][:hint])
  end

  def test_counts_come_by_themselves_and_not_beside_the_lists
    assert_equal({ columns: 5, associations: 0, validators: 1 },
                 model("Event")[:counts].slice(:columns, :associations, :validators))
    refute(model("Event", :columns)[:counts].key?(:columns))
  end

  def test_the_list_is_paged
    first = ask("model", limit: 3)
    second = ask("model", limit: 200, offset: first[:next_offset])
    assert_equal([3, 3], [first[:models].size, first[:next_offset]])
    assert_nil(second[:next_offset])
    assert_equal(first[:matched], first[:models].size + second[:models].size)
    assert_equal(%w[Billing::Invoice], ask("model", query: "OICES")[:models].map { |row| row[:name] })
  end
end

class OddModelTest < Minitest::Test
  include Asking

  def setup
    Object.const_set(:Odd, Class.new(ApplicationRecord) { self.table_name = "widgets" })
  end

  def teardown
    Object.send(:remove_const, :Odd)
  end

  def test_what_overflows_or_raises_keeps_the_rest_from_nothing
    raised = { validators: SystemStackError, defined_enums: NotImplementedError, stored_attributes: SyntaxError }
    raised.each do |name, error|
      Odd.define_singleton_method(name) { raise error, "at #{ROOT}/app/x.rb #{Object.new.inspect}" }
    end
    odd = model("Odd", *FIELDS)
    assert_equal([["unreadable", %w[validators]], ["unreadable", %w[enums]], ["unreadable", %w[attributes]]],
                 odd[:errors].map { |one| one.values_at(:code, :fields) }.reject { |one| one.last == %w[scopes] })
    assert_equal(12, odd[:columns].size)
    refute_match(/0x\h{6}|#{ROOT}/, odd.to_s)
  end

  # A digest, say.
  def test_a_class_with_a_hash_of_its_own_hides_nobody
    Odd.define_singleton_method(:hash) { |text| "digest of #{text}" }
    assert_includes(ask("model", query: "odd")[:models].map { |row| row[:name] }, "Odd")
    assert_equal("Widget", model("Widget")[:name])
    assert_equal(12, model("Odd", :columns)[:columns].size)
  end

  # Rails asks all of them before the first question.
  def test_a_class_that_can_say_nothing_of_itself_keeps_nobody_from_being_told
    %i[abstract_class? reset_column_information].each do |name|
      Odd.define_singleton_method(name) { raise SystemStackError, "stack level too deep" }
    end
    assert_includes(ask("model")[:models], { name: "Odd" })
    assert_equal(["unreadable", ["abstract_class"]], model("Odd")[:errors].first.values_at(:code, :fields))
    assert_equal("Widget", model("Widget")[:name])
    told = ask("check", limit: 1)
    assert_operator(told[:matched], :>, 1)
  end

  def test_an_endless_method_is_one_field_that_is_missing
    Odd.define_singleton_method(:validators) { validators }
    odd = model("Odd", :validators, :enums)
    assert_equal([], odd[:enums])
    assert_match(/SystemStackError/, odd[:errors].first[:message])
  end

  def test_long_lists_are_cut_and_counted
    Odd.validates(:name, inclusion: { in: (1..500).map(&:to_s) })
    Odd.enum(:volts, (1..300).to_h { |number| ["v#{number}", number] })
    odd = model("Odd", :validators, :enums, :scopes)
    options = odd[:validators].last[:options]
    assert_equal([500, true], options.values_at(:in_count, :in_truncated))
    assert_equal([200, 300], [odd[:enums].first[:values].size, odd[:enums].first[:values_count]])
    assert_equal([200, 600], [odd[:scopes].size, odd[:counts][:scopes]])
  end

  def test_conditions_of_callbacks_are_told
    Odd.before_save(:name_it, if: [:new?, -> { true }], unless: :done?)
    Odd.after_commit(-> { 1 }, on: %i[create destroy])
    saved, committed = model("Odd", :callbacks)[:callbacks].sort_by { |one| one[:callback] }.reverse
    assert_equal(["before_save", "name_it", ["done?"]], saved.values_at(:callback, :filter, :unless))
    assert_equal("new?", saved[:if].first)
    assert_equal(["after_commit", "block", %w[create destroy]], committed.values_at(:callback, :filter, :on))
  end

  def test_events_of_validations_are_told_and_nothing_that_rails_adds
    Odd.validate(:checked, on: :update, if: :new?)
    Odd.validate(:published, on: %i[publish create])
    Odd.before_validation(:tidied, on: :create)
    Odd.after_save(:saved)
    Odd.after_create(:made, if: -> { true })
    told = model("Odd", :callbacks)[:callbacks].to_h { |one| [one[:filter], one.values_at(:on, :if)] }
    made = told.delete("made")
    assert_equal({ "checked" => [%w[update], %w[new?]], "published" => [%w[create publish], nil],
                   "tidied" => [%w[create], nil], "saved" => [nil, nil] },
                 told.slice("checked", "published", "tidied", "saved"))
    assert_equal([nil, 1], [made.first, made.last.size])
  end

  def test_the_other_side_of_a_polymorphic_association_is_said_by_a_column
    Odd.belongs_to(:owner, polymorphic: true)
    Odd.has_many(:notes, as: :notable, class_name: "Comment")
    Odd.belongs_to(:maker)
    told = model("Odd", :associations)[:associations]
    assert_equal(["owner_type", "notable_type", nil], told.map { |one| one[:foreign_type] })
  end

  def test_an_association_through_what_is_not_there_is_told_in_the_words_of_rails
    Odd.has_many(:wheels, through: :cars)
    wheels = model("Odd", :associations)[:associations].first
    assert_match(/HasManyThroughAssociationNotFoundError: .*:cars/, wheels[:error])
  end

  def test_a_field_that_is_asked_for_alone_is_longer
    Odd.enum(:volts, (1..300).to_h { |number| ["v#{number}", number] })
    odd = model("Odd", :scopes)
    assert_equal([600, nil], [odd[:scopes].size, odd[:counts][:scopes]])
  end

  def test_what_an_attribute_is_made_of
    Odd.attribute(:virt, :integer)
    Odd.alias_attribute(:title, :name)
    Odd.store_accessor(:slug, :colour)
    told = model("Odd", :attributes)[:attributes].to_h { |one| [one[:name], one.except(:name)] }
    assert_equal({ virt: { type: "integer", column: false }, title: { alias_of: "name" }, colour: { store: "slug" } },
                 told.transform_keys(&:to_sym).slice(:virt, :title, :colour))
  end
end

class LongControllerTest < Minitest::Test
  include Asking

  def setup
    Object.const_set(:LongController, Class.new(ApplicationController) do
      250.times { |number| define_method(:"act_#{number}") { nil } }
      300.times { |number| before_action(:"check_#{number}") }
    end)
  end

  def teardown
    Object.send(:remove_const, :LongController)
  end

  def test_what_is_cut_off_its_lists_is_counted
    told = ask("controller", name: "LongController")
    assert_equal([200, 250], [told[:unroutable_actions].size, told[:unroutable_actions_count]])
    assert_equal(200, told[:callbacks].size)
    assert_operator(told[:callbacks_count], :>=, 300)
    refute(ask("controller", name: "WidgetsController").keys.any? { |name| name.end_with?("_count") })
  end
end

# Class methods that raise, recurse or answer nonsense, of each kind of class: what they keep from being told is missing,
# and everything else is there.
class OddClassTest < Minitest::Test
  include Asking

  ODD = { raise: -> { raise "at #{ROOT} #{Object.new.inspect}" }, leave: -> { exit }, nothing: -> {},
          object: -> { Object.new }, basic: -> { BasicObject.new }, list: -> { [BasicObject.new] } }.freeze
  ANYWHERE = %i[name to_s hash == ancestors superclass subclasses descendants respond_to? public_instance_methods
                __callbacks rescue_handlers].freeze
  METHODS = {
    "ApplicationController" => %i[controller_path action_methods _prefixes view_paths _process_action_callbacks _layout
                                  _layout_conditions mimes_for_respond_to],
    "ApplicationRecord" => %i[table_name primary_key abstract_class? connection_pool reflect_on_all_associations
                              validators defined_enums default_scopes attribute_types stored_attributes sti_name
                              attribute_aliases inheritance_column base_class reset_column_information],
    "ApplicationJob" => %i[queue_name priority queue_adapter_name queue_name_from_part],
    "ApplicationMailer" => %i[action_methods mailer_name view_paths default_params _layout delivery_method
                              delivery_job],
    "ActionCable::Channel::Base" => %i[action_methods periodic_timers]
  }.freeze

  METHODS.each do |base, methods|
    define_method("test_what_a_class_below_#{base}_says_of_itself_may_be_nonsense") do
      methods.product(ODD.to_a) { |name, (what, answer)| odd(base, name, answer, "#{base} #{name} #{what}") }
      ANYWHERE.product(%i[raise basic]) { |name, what| odd(base, name, ODD[what], "#{base} #{name} #{what}") }
    end

    define_method("test_what_a_class_below_#{base}_says_of_itself_may_have_no_end") do
      methods.each { |name| odd(base, name, ->(*all, **named) { Odd.public_send(name, *all, **named) }, name.to_s) }
    end
  end

  private

  def odd(base, name, answer, what)
    Object.const_set(:Odd, Class.new(base.constantize))
    Odd.define_singleton_method(name) do |*all, **named|
      answer.parameters.empty? ? answer.call : answer.call(*all, **named)
    end
    told = about(base)
    assert_equal("Odd", told[:name], what)
    refute_match(/0x\h{6}|#{ROOT}/, told.to_s, what)
  ensure
    Odd.singleton_class.send(:remove_method, name)
    Object.send(:remove_const, :Odd)
  end

  def about(base)
    case base
    when "ApplicationRecord" then model("Odd", *FIELDS)
    when "ApplicationController" then ask("controller", name: "Odd")
    else ask("job", name: "Odd")[:classes].first
    end
  end
end

class OddControllerTest < Minitest::Test
  include Asking

  def teardown
    Object.send(:remove_const, :OddController)
  end

  # Routes lead to a class also if it does not say where it is.
  def test_a_controller_that_can_not_say_its_path_has_its_routes
    Object.const_set(:OddController, Class.new(ApplicationController) do
      def self.controller_path = raise("who knows")

      def index = nil
    end)
    Rails.application.routes.append { get "odd", to: "odd#index" }
    Rails.application.reload_routes!
    Coatepec::Reading::RouteTable.forget
    odd = ask("controller", name: "OddController")
    assert_equal([["/odd"], []], [odd[:actions].first[:routes].map { |one| one[:path] }, odd[:unroutable_actions]])
    assert_equal(["unreadable", "RuntimeError: who knows"], odd[:errors].first.values_at(:code, :message))
    assert_includes(odd[:errors].first[:fields], "controller_path")
  end

  # A name that nothing answers to is written in the app.
  def test_callbacks_without_a_place_are_the_apps_own
    Object.const_set(:OddController, Class.new(ApplicationController) { before_action(:nowhere) })
    filters = ask("controller", name: "OddController")[:callbacks].map { |one| one[:filter] }
    assert_operator(filters.index("nowhere"), :<, filters.index("verify_authenticity_token"))
  end

  def test_templates_that_can_not_be_found_are_no_missing_actions
    Object.const_set(:OddController, Class.new(ApplicationController) { def self._prefixes = raise("nowhere") })
    odd = ask("controller", name: "OddController")
    refute(odd.key?(:routes_without_action))
    assert_includes(odd[:errors].first[:fields], "routes_without_action")
    assert_equal([], odd[:actions])
  end
end

class UnloadedTest < Minitest::Test
  include Asking

  # As a new reader finds the app after the worker has loaded it again.
  def reload
    Rails.application.reloader.reload!
    Coatepec::Boot.send(:eager_load)
    { Unloaded: :@files, Database: :@derived }.each do |part, remembered|
      ask("model", limit: 1)
      Coatepec::Reading.const_get(part).instance_variable_set(remembered, nil)
    end
  end

  def setup
    @file = "#{ROOT}/app/models/aaa_broken.rb"
    File.write(@file, "class AaaBroken\n  FOO = MissingThing\nend\n")
    File.write("#{ROOT}/app/models/unreached.rb", "class Unreached < ApplicationRecord\nend\n")
    reload
  end

  def teardown
    FileUtils.rm_f([@file, "#{ROOT}/app/models/unreached.rb"])
    reload
  end

  def test_one_broken_file_hides_no_other_and_is_told
    refute_nil(Coatepec::Boot.eager_load_error)
    reason = "NameError: uninitialized constant AaaBroken::MissingThing"
    told = ask("model")
    assert_equal([[{ file: "app/models/aaa_broken.rb", reason: reason }], 1],
                 told.values_at(:not_loaded, :not_loaded_count))
    assert_empty(%w[Unreached Widget Billing::Invoice] - told[:models].map { |row| row[:name] })
    assert_includes(ask("check")[:unchecked], { subject: "app/models/aaa_broken.rb", reason: reason })
    assert_includes(ask("job")[:classes].map { |row| row[:name] }, "ActionMailer::MailDeliveryJob")
  end

  # Also when it is asked again: then Ruby would say that there is no such constant.
  def test_a_class_whose_file_is_broken_is_refused_with_the_first_reason
    broken = { "model" => "BrokenModel", "job" => "BrokenJob", "controller" => "BrokenController" }
    broken.each { |kind, name| File.write(path(kind, name), "class #{name}\n  def x(\nend\n") }
    reload
    2.times do
      broken.each do |kind, name|
        error = refused(kind, name: name)
        place = path(kind, name).delete_prefix("#{ROOT}/")
        assert_equal("read_failed", error.code)
        assert_match(/\A`#{place}` can't be loaded: SyntaxError: .*\b#{File.basename(place)}:3: /, error.message)
      end
    end
    told = ask("model", names: %w[BrokenModel Widget AaaBroken])[:models]
    assert_equal(["read_failed", nil, "read_failed"], told.map { |one| one.dig(:error, :code) })
    assert_match(/MissingThing/, told.last[:error][:message])
  ensure
    broken.each { |kind, name| FileUtils.rm_f(path(kind, name)) }
  end

  # What a class lies in may be what is broken.
  def test_a_class_below_a_broken_module_is_refused_with_the_reason_of_that
    FileUtils.mkdir_p("#{ROOT}/app/models/sunk")
    File.write("#{ROOT}/app/models/sunk.rb", "module Sunk\n  raise 'leak'\nend\n")
    File.write("#{ROOT}/app/models/sunk/ship.rb", "class Sunk::Ship < ApplicationRecord\nend\n")
    reload
    2.times { assert_equal("`app/models/sunk.rb` can't be loaded: RuntimeError: leak", refused("model", name: "Sunk::Ship").message) }
  ensure
    FileUtils.rm_rf(["#{ROOT}/app/models/sunk.rb", "#{ROOT}/app/models/sunk"])
  end

  def path(kind, name) = "#{ROOT}/app/#{kind}s/#{name.underscore}.rb"

  def test_of_an_app_that_loads_nothing_is_said
    FileUtils.rm_f(@file)
    reload
    refute(ask("model").key?(:not_loaded))
  end
end

class NamesTest < Minitest::Test
  include Asking

  HOSTILE = ["Kernel", "Object", "File", "ENV", "ActiveRecord::Base", "QuoteRequest", "Ops", "Legacy", "PriceList",
             "::Widget", "Widget::", "Widget; system('x')", "widget", "Wïdget", "Widget\n", "", "A" * 10_000,
             "Widget::Widget", "Bait", "Bait::X", "Widgetry::Application", "\u0000", "Object::Widget", "💎"].freeze

  # Nothing of the app runs, nothing is loaded and nothing is queried for a name that is no model's, job's, mailer's or
  # channel's.
  def test_what_is_no_such_name_resolves_nothing
    bait = "#{ROOT}/bait.rb"
    File.write(bait, "Bait = 1\n")
    Object.autoload(:Bait, bait)
    ask("model", name: "Widget")
    ran, queries = watched { HOSTILE.each { |name| refuse_all(name) } }
    assert_equal([], ran)
    assert_equal([], queries)
    assert_equal(bait, Object.autoload?(:Bait))
  end

  def test_what_is_said_is_short_and_helps
    error = refused("model", name: "A" * 10_000)
    assert_operator(error.message.size, :<, 200)
    assert_equal("did you mean `Widget`?", refused("model", name: "Wigdet").hint)
    assert_equal("did you mean `Ops::Thing`?", refused("model", name: "Thing").hint)
    assert_equal("did you mean `RepriceWidgetsJob`?", refused("job", name: "RepriceWidgetJob").hint)
  end

  def test_nobody_is_told_to_mean_what_rails_has_made_or_the_same_again
    refute_match(/ActionController::Base/, refused("controller", name: "ActionController::Base").hint.to_s)
    refute_match(/HABTM/, refused("model", name: "Widget::Object").hint.to_s)
    refute_match(/HABTM/, refused("model", name: "HABTM_Tag").hint.to_s)
  end

  def test_another_form_of_a_name_is_seen_for_what_is_meant
    table = {
      "model" => { "Widget" => %w[widget widgets Widgets WIDGET widgets_controller WidgetsController],
                   "Ops::Thing" => %w[ops/thing ops/things ops_things OpsThing Ops::Things thing] },
      "job" => { "RepriceWidgetsJob" => %w[reprice_widgets RepriceWidgets reprice_widgets_job],
                 "WidgetMailer" => %w[widget_mailer WidgetsMailer] },
      "controller" => { "WidgetsController" => %w[widget Widgets Widget widget_controller],
                        "Admin::DashboardsController" => %w[dashboards admin/dashboard Dashboard] },
      "schema" => { "widgets" => %w[widget Widget WIDGETS], "ops_things" => %w[Ops::Thing ops_thing OpsThings] }
    }
    table.each do |what, forms|
      forms.each do |meant, names|
        names.each do |name|
          assert_match(/\Adid you mean `#{meant}`/, refused(what, (what == "schema" ? :table : :name) => name).hint, name)
        end
      end
    end
    assert_equal("WidgetsController", ask("controller", name: "widgets_controller")[:name])
  end

  # It is compared with the names of what is there, and reaches no query.
  def test_a_table_of_any_name_is_never_asked_for
    tables = ["widgets; DROP TABLE widgets", "widgets'--", "wid%", "A" * 200, "💎", "widgets\"", "pg_catalog.pg_class"]
    ran, queries = watched { tables.each { |name| assert_equal("table_not_found", refused("schema", table: name).code) } }
    assert_equal([], ran)
    assert_equal([], queries.select { |sql| tables.any? { |name| sql.include?(name) } })
  end

  # Of no question, whatever it tells.
  def test_no_rows_are_read
    names = ask("model")[:models].map { |row| row[:name] }
    _ran, queries = watched do
      names.each_slice(20) { |slice| ask("model", names: slice, fields: FIELDS) }
      ask("schema", detail: "full")
      ask("job")[:classes].each { |row| ask("job", name: row[:name]) }
      ask("routes", engines: "include")
      ask("controller", name: "widgets")
      ask("check", limit: 200)
    end
    refute_empty(queries)
    tables = ask("schema", detail: "names")[:tables].map { |name| name.split(".").last }
    rows = queries.grep(/\b(?:FROM|INTO|UPDATE)\s+"?(?:#{Regexp.union(tables)})\b/i)
    assert_equal([], rows)
  end

  private

  def refuse_all(name)
    %w[model job controller].each { |what| refused(what, name: name) }
    ask("model", names: [name, name.reverse])
  rescue Coatepec::Reading::Refused
    nil
  end

  # Methods of the app that ran (its tables' prefixes are asked for by Rails), and what its databases were asked.
  def watched(&)
    ran = []
    queries = []
    trace = TracePoint.new(:call) { |point| ran << "#{point.path}:#{point.lineno}" if own?(point) }
    sql = ->(*, payload) { queries << payload[:sql] }
    ActiveSupport::Notifications.subscribed(sql, "sql.active_record") { trace.enable(&) }
    [ran, queries]
  end

  def own?(point) = point.path.start_with?("#{ROOT}/") && point.method_id != :table_name_prefix
end

class SchemaTest < Minitest::Test
  include Asking

  def table(name, **more) = ask("schema", table: name, **more)[:tables].first

  def test_tables_of_all_databases_are_told
    told = ask("schema")
    assert_equal("database", told[:source])
    assert_equal([["primary", 15], ["audit", 1]], told[:databases].map { |one| one.values_at(:name, :tables) })
    assert_equal("audit.events", ask("schema", query: "EVENT", detail: "names")[:tables].last)
    assert_equal(table("events"), table("audit.events"))
  end

  def test_what_was_made_a_moment_ago_is_there
    execute("CREATE TABLE fresh (id integer primary key, at datetime DEFAULT CURRENT_TIMESTAMP)",
            "CREATE VIEW totals AS SELECT count(*) AS n FROM fresh")
    assert_equal({ name: "at", type: "datetime", null: true, default_function: "CURRENT_TIMESTAMP" },
                 table("fresh")[:columns][1])
    view = table("totals")
    assert_equal([true, nil, ["n"]], [view[:view], view[:primary_key], view[:columns].map { |one| one[:name] }])
  ensure
    execute("DROP VIEW IF EXISTS totals", "DROP TABLE IF EXISTS fresh")
    assert_equal("table_not_found", refused("schema", table: "fresh").code)
  end

  def test_a_migration_that_did_not_run_is_pending
    file = "db/audit_migrate/20990101000000_add_actor.rb"
    File.write(file, "raise 'never loaded'")
    told = ask("schema", detail: "names")
    assert_equal([[{ version: "20990101000000", name: "add_actor", file: file }], 1],
                 told.values_at(:pending_migrations, :pending_count))
  ensure
    File.delete(file)
    assert_equal(0, ask("schema")[:pending_count])
  end

  def test_a_table_that_is_not_there_is_refused_with_what_was_meant
    error = refused("schema", table: "widgits")
    assert_equal(["table_not_found", "did you mean `widgets`?"], [error.code, error.hint])
  end

  def test_a_lost_connection_is_made_anew
    ActiveRecord::Base.connection_pool.with_connection { |connection| connection.raw_connection.close }
    assert_equal("widgets", table("widgets")[:name])
  end

  # Nor does looking make one.
  def test_without_a_database_nothing_is_made_up
    files = Dir["storage/*"]
    files.each { |file| File.rename(file, "#{ROOT}/#{File.basename(file)}.away") }
    Coatepec::Fork.disconnect
    assert_equal("no_database", refused("schema").code)
    maker = model("Maker", :columns, :validators)
    assert_equal(%w[database_unavailable], maker[:errors].map { |error| error[:code] }.uniq)
    assert_equal(2, maker[:validators].size)
    assert_empty(Dir["storage/*"])
  ensure
    files.each { |file| File.rename("#{ROOT}/#{File.basename(file)}.away", file) }
  end
end

class JobTest < Minitest::Test
  include Asking

  def told(name, **more) = ask("job", name: name, **more)[:classes].first

  def test_a_job_is_told_without_being_made
    job = told("RepriceWidgetsJob")
    assert_equal("block at app/jobs/reprice_widgets_job.rb:5", job[:queue_name])
    assert_equal([%w[percent required], %w[ids optional], %w[round_to keyword]], job[:arguments].map(&:values))
    assert_equal([{ exceptions: ["ActiveRecord::Deadlocked"], attempts: 3, wait: 5,
                    at: "app/jobs/reprice_widgets_job.rb:6" }], job[:retry_on])
    assert_equal([["RepriceWidgetsJob::NothingToDo", "app/jobs/reprice_widgets_job.rb:7"],
                  ["ActiveJob::DeserializationError", "app/jobs/application_job.rb:2"]],
                 job[:discard_on].map { |one| [*one[:exceptions], one[:at]] })
    assert_equal(["before_perform check_percent app/jobs/reprice_widgets_job.rb:20",
                  "after_perform block app/jobs/reprice_widgets_job.rb:10"],
                 job[:callbacks].map { |one| one.values_at(:callback, :filter, :at).join(" ") })
  end

  def test_queue_and_priority_are_as_declared_or_the_default
    assert_equal(["ops", 10], told("Ops::SweepJob").values_at(:queue_name, :queue_priority))
    assert_equal(["default", nil], told("ApplicationJob").values_at(:queue_name, :perform))
  end

  def test_odd_declarations_are_told
    job = Class.new(ApplicationJob) do
      retry_on(IOError, EOFError, wait: ->(count) { count }, attempts: :unlimited, queue: :slow)
      retry_on(KeyError, wait: 2.minutes, jitter: 0.5)
      after_discard { |_job, _error| nil }
      rescue_from(ArgumentError, with: :shrug)
      def perform(*, key:, **, &) = key
    end
    Object.const_set(:OddJob, job)
    odd = told("OddJob")
    by_first = odd[:retry_on].to_h { |one| [one[:exceptions], one.slice(:attempts, :wait, :queue)] }
    assert_equal({ attempts: "unlimited", wait: "proc", queue: "slow" },
                 by_first[%w[IOError EOFError]].transform_values { |value| value.sub(/ at .*/, "") })
    assert_equal([0.5, nil], odd[:retry_on].map { |one| one[:jitter] })
    assert_match(/\Ablock/, odd[:after_discard].first)
    assert_equal([{ exceptions: ["ArgumentError"], with: "shrug" }], odd[:rescue_from])
    assert_equal(%w[rest keyword_required keyword_rest block], odd[:arguments].map { |one| one[:kind] })
  ensure
    Object.send(:remove_const, :OddJob)
  end

  def test_mailers_and_channels_are_told
    mailer = told("WidgetMailer")
    assert_equal([{ name: "went_live", at: "app/mailers/widget_mailer.rb:4",
                    views: ["app/views/widget_mailer/went_live.text.erb"] }], mailer[:actions])
    assert_equal({ from: "shop@widgets.test" }, mailer[:default])
    assert_equal("before_action", mailer[:callbacks].first[:callback])
    channel = told("WidgetChannel")
    assert_equal([{ name: "ask", at: "app/channels/widget_channel.rb:6" }], channel[:actions])
    assert_equal([{ code: "stream_from \"widgets\"", at: "app/channels/widget_channel.rb:3" }], channel[:streams])
  end

  def test_a_name_of_another_kind_is_none
    assert_equal("job_not_found", refused("job", name: "WidgetMailer", kind: "job").code)
    assert_equal(%w[mailer], ask("job", kind: "mailer")[:classes].map { |row| row[:kind] }.uniq)
    assert_equal(%w[RepriceWidgetsJob], ask("job", query: "REPRICE")[:classes].map { |row| row[:name] })
  end
end
