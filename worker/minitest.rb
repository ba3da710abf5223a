# frozen_string_literal: true

require "minitest"

module Coatepec
  # Minitest, driven step by step as its own `run` does it, and heard through a reporter of ours. Versions 5 and 6.
  module MinitestFramework
    # A helper asks for it, since `ruby a_test.rb` would do nothing otherwise. A run of ours would be run once more.
    module NoAutorun
      def autorun = nil
    end

    # Exceptions stay what they are: Minitest replaces those that can't be marshalled, which only matters to a test that
    # runs in a process of its own, and which fails for an exception whose message raises.
    module KeepExceptions
      def sanitize_exception(error) = Ending.records&.ours? ? error : super
    end

    ::Minitest.singleton_class.prepend(NoAutorun)
    ::Minitest::Test.prepend(KeepExceptions)

    HELPERS = %w[test_helper minitest_helper].freeze

    class << self
      # Loads what every test file of this app would load first.
      def preload(extra)
        add_load_paths
        helper = HELPERS.find { |name| File.file?("test/#{name}.rb") }
        [helper, *extra.map { |file| File.expand_path(file) }].compact.each { |file| require file }
        load_on_demand_parts
      end

      # The exit status, as `rails test` would have it.
      def run(request, records)
        add_load_paths if request[:mode] == "spawn"
        MinitestRun.new(request, records).call
      end

      # Version 6 has plugins loaded only by whoever wants them.
      def load_plugins
        return if @plugins || ENV["MT_NO_PLUGINS"] || ::Minitest::VERSION.to_i > 5

        @plugins = true
        ::Minitest.load_plugins
      end

      private

      def add_load_paths
        dirs = %w[lib test].select { |dir| File.directory?(dir) }.map { |dir| File.expand_path(dir) }
        $LOAD_PATH.unshift(*(dirs - $LOAD_PATH))
      end

      # Here once, instead of in every run.
      def load_on_demand_parts
        load_plugins
        require "minitest/assertions"
        require "tempfile" # For diffs.
        require "open3"
      end
    end
  end

  # One call of Minitest's runner, step by step, so that what it did and how far it came is known.
  class MinitestRun
    def initialize(request, records)
      @request = request
      @records = records
      @outside = 0
    end

    def call
      started = Coatepec.clock
      after_run
      @catalogue = MinitestCatalogue.new(@request.fetch(:files))
      load_files
      prepare
      select
      tell_databases
      tell_start(Coatepec.clock - started)
      status = @outside.zero? ? perform : 1
      @records.emit("finished", status: status, quit: @quit ? true : false, outside: @outside)
      status
    end

    private

    # What must end a process even here.
    PASS = [NoMemoryError, SignalException, SystemExit].freeze

    # As `autorun` would: when the process ends, newest first, and what they raise counts.
    def after_run
      at_exit do
        blocks = ::Minitest.class_variable_get(:@@after_run)
        blocks.reverse_each(&:call) if @records.ours?
      end
    end

    def load_files
      @request.fetch(:files).each do |file|
        @catalogue.loading(file) { require File.expand_path(file) }
      rescue *PASS
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- whatever a file raises, the others have a say
        outside(e, "An error occurred while loading ./#{file}.")
      end
    end

    def outside(error, context)
      @outside += 1
      @records.emit("outside_error", context: context, failure: Failure.of(error))
    end

    # As `Minitest.run`, but for what it prints: stdout is the app's.
    def prepare
      MinitestFramework.load_plugins
      @options = ::Minitest.process_args(["--seed", seed.to_s]).merge(io: File.open(File::NULL, "w"))
      ::Minitest.seed = @options[:seed]
      @reporter = ::Minitest::CompositeReporter.new
      [::Minitest::SummaryReporter, ::Minitest::ProgressReporter].each do |reporter|
        @reporter << reporter.new(@options[:io], @options)
      end
      init_plugins
      ::Minitest.parallel_executor = Serially.new
    end

    # Plugins may change anything; only what is known for mere printing is taken away.
    def init_plugins
      ::Minitest.reporter = @reporter
      ::Minitest.init_plugins(@options)
      ::Minitest.reporter = nil
      @reporter.reporters.reject! { |reporter| printer?(reporter) }
    end

    def printer?(reporter)
      reporter.class.name.to_s.match?(/\A(Minitest|Rails)::\w*(Summary|Progress|TestUnit|Profile)Reporter\z/)
    end

    def seed
      @seed ||= @request[:seed] || (Integer(ENV["SEED"], exception: false) || Random.new_seed) % 0xFFFF
    end

    def select
      @selection = MinitestSelection.new(@catalogue.tests, @request)
      @selection.apply
    end

    # What a fresh process uses is not known before.
    def tell_databases
      names = @request[:mode] == "spawn" ? Databases.names : []
      @records.emit("databases", names: names) if names.any?
    end

    def tell_start(seconds)
      selected = @selection.tests
      @records.emit_started(
        seconds: seconds, selected: selected.size, loaded: @catalogue.tests.size, ids: selected.map(&:id), seed: @seed,
        random: true, dry_run: false, fail_fast: @request[:fail_fast] ? true : false,
        filters: { include: [], exclude: [] }, unmatched: @selection.unmatched, known_as: @selection.known_as,
        outside: @outside
      )
    end

    def perform = @request[:list] ? list : examples

    def list
      @records.emit_listed(@selection.tests.map { |test| { example: test.identity, tags: [] } })
      0
    end

    def examples
      listener = MinitestListener.new(@records, @catalogue, @request)
      @reporter.reporters.unshift(listener)
      run_all
      tell_who_left_out(@selection.tests.reject { |test| listener.heard?(test) }) unless @quit
      @reporter.passed? ? 0 : 1
    end

    # A class may be run in a way of its own.
    def tell_who_left_out(tests)
      tests.group_by(&:klass).each do |klass, left|
        path, line = klass.method(:run).source_location
        next unless path&.start_with?(Coatepec.root)

        place = "#{path.delete_prefix(Coatepec.root)}:#{line}"
        @records.emit("message", text: "#{left.first.label} has a `run` of its own, in #{place}, which left them out")
      end
    end

    def run_all
      @reporter.start
      # Looking for the tests has used some of its numbers.
      srand(::Minitest.seed)
      @quit = catch(MinitestListener::STOP) { run_suites }
      @reporter.report
    rescue Interrupt
      @quit = true
    rescue *PASS
      raise
    rescue Exception => e # rubocop:disable Lint/RescueException -- of a hook around a class, or a plugin's reporter
      @quit = true
      outside(e, "An error occurred between the tests.")
    end

    # Nothing, unless it was stopped.
    def run_suites
      all = ::Minitest.respond_to?(:run_all_suites) ? :run_all_suites : :__run
      ::Minitest.public_send(all, @reporter, @options)
      nil
    end
  end

  # Stands in the place of what would run tests in threads or processes: in a selection, that costs more than it gains,
  # and processes of their own would have databases of their own.
  class Serially
    def size = 1

    def start = nil

    def shutdown = nil

    def <<((klass, method, reporter))
      reporter.prerecord(klass, method)
      one = ::Minitest.respond_to?(:run_one_method)
      reporter.record(one ? ::Minitest.run_one_method(klass, method) : klass.new(method).run)
    end
  end

  # Hears Minitest's reporter and sends a record for each event.
  class MinitestListener < ::Minitest::AbstractReporter
    STOP = :coatepec_stop

    def initialize(records, catalogue, request)
      super()
      @records = records
      @catalogue = catalogue
      @fail_fast = request[:fail_fast]
      @coverage = LineCoverage if request[:coverage]
      @passed = true
      @heard = {}.compare_by_identity
    end

    def passed? = @passed

    def heard?(test) = @heard.key?(test)

    # The first of several reporters is asked where they print to.
    def io = @io ||= File.open(File::NULL, "w")

    def prerecord(klass, name)
      @klass = klass
      test = @catalogue.test(klass, name)
      @heard[test] = true
      @coverage&.entering(test.file)
      @since = Coatepec.clock
      @records.emit("example_started", **identity(name))
    end

    def record(result)
      broken, skips = result.failures.partition { |failure| !failure.is_a?(::Minitest::Skip) }
      return failed(result, broken) if broken.any?
      return finished(result, "passed") if skips.empty?

      finished(result, "pending", reason: Failure.guard("a reason") { skips.first.message })
    end

    private

    def failed(result, broken)
      @passed = false
      first, *others = broken.map { |failure| Failure.of(failure.error) }
      finished(result, "failed", failure: first.merge(parts: first[:parts] + others))
      throw(STOP, true) if @fail_fast && @records.ours?
    end

    def finished(result, status, **fields)
      @records.emit("example_finished", example: identity(result.name), status: status,
                                        seconds: Coatepec.clock - @since,
                                        assertions: Json.count(result.assertions), **fields)
    end

    def identity(name) = @catalogue.test(@klass, name).identity
  end
end
