# frozen_string_literal: true

require "rspec/core"
RSpec::Core::Runner.disable_autorun!

module Coatepec
  # RSpec, driven by its own runner, and heard through a listener of ours.
  module RSpecFramework
    class << self
      # Loads what every spec file of this app would load first.
      def preload(extra)
        options = ::RSpec::Core::ConfigurationOptions.new([]).options
        add_load_paths(options)
        files = options[:requires] + [helper(options)].compact + extra.map { |file| File.expand_path(file) }
        files.each { |file| require file }
        load_on_demand_parts
        # The helper may have tied the global generator to RSpec's seed, as RSpec's template proposes.
        @srand_follows_seed = Random.seed == ::RSpec.configuration.seed
      end

      # The exit status, as `rspec` would have it.
      def run(request, records)
        RSpecRun.new(request, records, srand: @srand_follows_seed).call
      end

      private

      def add_load_paths(options)
        ::RSpec.configuration.libs = options[:libs]
        dirs = ["lib", options[:default_path] || "spec"].select { |dir| File.directory?(dir) }
        ::RSpec::Core::RubyProject.add_to_load_path(*dirs)
      end

      # RSpec loads these when they are first used: here once, instead of in every run.
      def load_on_demand_parts
        require "rspec/core/profiler"
        matchers = defined?(::RSpec::Matchers::BuiltIn) ? ::RSpec::Matchers::BuiltIn : Module.new
        matchers.constants.each { |name| matchers.const_get(name) }
      end

      def helper(options)
        dir = options[:default_path] || "spec"
        %w[rails_helper spec_helper].find { |name| File.file?(File.join(dir, "#{name}.rb")) }
      end
    end
  end

  # One call of RSpec's runner, step by step, so that what it did and how far it came is known.
  class RSpecRun
    def initialize(request, records, srand:)
      @request = request
      @records = records
      @srand = srand
      @out = $stdout
      @err = $stderr
    end

    def call
      started = Coatepec.clock
      @runner = ::RSpec::Core::Runner.new(::RSpec::Core::ConfigurationOptions.new(arguments))
      reset
      listen
      load_files
      listen unless config.reporter.equal?(@reporter)
      tell_databases
      tell_start(Coatepec.clock - started)
      status = @request[:list] ? list : examples
      tell_end(status)
      status
    end

    private

    # Told of one example of a listing, and bytes of each.
    TAGS = 20
    TAG_BYTES = 100

    # Files that are named because a pattern excludes them.
    EXCLUDED = 1000

    def config = ::RSpec.configuration

    def world = ::RSpec.world

    def flag(value) = value ? true : false

    # Paths begin with "./" and values stand behind their option: nothing a caller names can become an option.
    def arguments
      arguments = ["--format", Silent.name, "--no-color"]
      arguments.push("--seed", @request[:seed].to_s) if @request[:seed] && !@request[:keep_order]
      arguments.push("--fail-fast") if @request[:fail_fast]
      arguments.push("--example", @request[:example]) if @request[:example]
      arguments + @request.fetch(:arguments)
    end

    # What the zygote fixed when it loaded the helper, made new for this run: the clock and the seed.
    def reset
      config.start_time = ::RSpec::Core::Time.now
      # Where RSpec writes a backtrace into a message, ours is none of the app's.
      config.backtrace_exclusion_patterns << %r{\A(?:\./)?coatepec/worker} << /\A-e:\d/
      return if @request[:mode] == "spawn"

      seed = @request[:seed] || Random.new_seed % 0xFFFF
      config.ordering_manager.instance_variable_set(:@seed, seed)
      Kernel.srand(seed) if @srand
    end

    def listen
      @listener ||= RSpecListener.new(@records)
      @reporter = reporter = config.reporter
      reporter.register_listener(@listener, *RSpecListener::EVENTS)
      reporter.register_listener(LineCoverage, :example_group_started) if @request[:coverage]
      listener = @listener
      reporter.define_singleton_method(:notify_non_example_exception) do |error, context|
        listener.outside_error(error, context)
        super(error, context)
      end
    end

    # As `Runner#setup`, which has no place to count what was loaded before the filters are applied.
    def load_files
      @runner.configure(@err, @out)
      keep_order if @request[:keep_order] && @request[:seed]
      only_named_files
      exclude
      config.load_spec_files unless world.wants_to_quit
    ensure
      @loaded = world.all_example_groups.sum { |group| group.examples.size }
      world.announce_filters
    end

    # RSpec's own way to be given a seed makes the order random.
    def keep_order
      { :@seed => @request.fetch(:seed), :@seed_forced => true }.each do |name, value|
        config.ordering_manager.instance_variable_set(name, value)
      end
    end

    # A pattern in .rspec makes RSpec look for more.
    def only_named_files
      named = @request.fetch(:files).to_h { |file| [File.expand_path(file), true] }
      config.files_to_run = config.files_to_run.select { |file| named[File.expand_path(file)] }
    end

    # RSpec applies its exclude pattern to directories only, and we have expanded them. A file that was named is run.
    def exclude
      pattern = config.exclude_pattern.to_s
      return if pattern.empty?

      below = @request.fetch(:directories).flat_map { |dir| config.__send__(:get_matching_files, dir, pattern) }
      excluded = below.map { |file| File.expand_path(file) } - named_files
      @excluded, rest = config.files_to_run.partition { |file| excluded.include?(File.expand_path(file)) }
      config.files_to_run = rest
    end

    def named_files
      @request.fetch(:named).map { |name| File.expand_path(name[/\A.*_spec\.rb/m] || name) }
    end

    # What a fresh process uses is not known before.
    def tell_databases
      names = @request[:mode] == "spawn" ? Databases.names : []
      @records.emit("databases", names: names) if names.any?
    end

    def tell_start(seconds)
      @groups = world.ordered_example_groups
      selected = @groups.flat_map(&:descendant_filtered_examples)
      @records.emit_started(
        seconds: seconds, selected: selected.size, loaded: @loaded, ids: selected.map(&:id), seed: seed,
        random: flag(random?), dry_run: flag(config.dry_run?),
        fail_fast: flag(config.fail_fast), filters: filters, excluded: relative(@excluded).first(EXCLUDED),
        unmatched: RSpecMatched.new(selected).missing(@request.fetch(:chosen)), outside: @listener.outside
      )
    end

    def tell_end(status)
      @records.emit("finished", status: status.clamp(-1, 0xFFFF), quit: flag(world.wants_to_quit),
                                dry_run: @listener.dry_run, outside: @listener.outside)
    end

    # Groups may have an order of their own, which is asked for only once they run.
    def random?
      config.ordering_manager.seed_used? ||
        @groups.flat_map(&:descendants).any? { |group| group.metadata[:order] == :random }
    end

    def seed = config.seed.between?(0, 0xFFFF_FFFF) ? config.seed : nil

    def relative(files) = Array(files).map { |file| File.expand_path(file).delete_prefix(Coatepec.root) }

    # Filters besides the ones that the caller asked for: they hide examples from a run that looks complete.
    def filters
      manager = config.filter_manager
      { include: rules(manager.inclusions), exclude: rules(manager.exclusions) }
    end

    def rules(set)
      asked = %i[locations ids if unless]
      asked << :full_description if @request[:example]
      set.rules.reject { |key, _| asked.include?(key) }
         .map { |key, value| value == true ? key.to_s : "#{key}: #{Failure.guard("a filter") { value.inspect }}" }
    end

    # In the order they are written, with the metadata that their author gave them.
    def list
      return config.reporter.exit_early(@runner.exit_code) if world.wants_to_quit

      examples = world.example_groups.flat_map(&:descendant_filtered_examples)
      @records.emit_listed(examples.map { |example| { example: @listener.identity(example), tags: tags(example) } })
      0
    end

    # Of metadata, what a filter by tag could name.
    def tags(example)
      own = example.metadata.except(*::RSpec::Core::Metadata::RESERVED_KEYS)
      own.first(TAGS).filter_map do |key, value|
        case value
        when true then key.to_s
        when String, Symbol, Numeric then "#{key}: #{Failure.guard("a tag", TAG_BYTES) { value }}"
        end
      end
    end

    def examples
      return config.reporter.exit_early(@runner.exit_code) if world.wants_to_quit

      @runner.run_specs(@groups).tap { @runner.__send__(:persist_example_statuses) }
    end
  end

  # Which parts of selectors stand for at least one of the examples, as RSpec itself would match them.
  class RSpecMatched
    def initialize(examples)
      @ids = {}
      @lines = {}
      examples.each { |example| note(example.metadata) }
    end

    # `chosen` of the request: of each file, lines or ids or neither.
    def missing(chosen)
      chosen.flat_map do |choice|
        path = choice.fetch(:path)
        lines = choice[:lines].reject { |line| line?(File.expand_path(path), line) }
        ids = choice[:ids].reject { |id| @ids[["./#{path}", id]] }
        lines.map { |line| "#{path}:#{line}" } + ids.map { |id| "#{path}[#{id}]" }
      end
    end

    private

    # An example, and the groups it is in.
    def note(metadata)
      ::RSpec::Core::Metadata.ascend(metadata).each do |own|
        @ids[own.values_at(:rerun_file_path, :scoped_id)] = true
        @lines[own.values_at(:absolute_file_path, :line_number)] = true
      end
    end

    def line?(file, line) = @lines[[file, ::RSpec.world.preceding_declaration_line(file, line)]]
  end

  # Stands in the place of the formatters that .rspec names, and prints nothing: stdout is the app's.
  class Silent
    ::RSpec::Core::Formatters.register self, :close

    def initialize(_output) = nil

    def close(_notification) = nil
  end

  # Hears RSpec's reporter and sends a record for each event.
  class RSpecListener
    EVENTS = %i[example_started example_passed example_failed example_pending message].freeze

    # Errors outside of the examples, and whether RSpec ran any example without its body.
    attr_reader :outside, :dry_run

    def initialize(records)
      @records = records
      @outside = 0
      @dry_run = false
    end

    def example_started(notification)
      notice_dry_run
      @records.emit("example_started", **identity(notification.example))
    end

    def example_passed(notification) = finished(notification.example, "passed")

    def example_pending(notification)
      finished(notification.example, "pending", reason: Failure.guard("a reason") { reason(notification) })
    end

    def example_failed(notification)
      result = notification.example.execution_result
      finished(notification.example, "failed", failure: failure(result), pending_fixed: !!result.pending_fixed?)
    end

    def message(notification) = @records.emit("message", text: Failure.guard("a message") { notification.message })

    # An error in a hook around the suite or a group, or while a file was loaded.
    def outside_error(error, context)
      @outside += 1
      @records.emit("outside_error", context: Failure.guard("a description") { context }, failure: Failure.of(error))
    end

    def identity(example)
      metadata = example.metadata
      { id: example.id, description: Failure.guard("a description") { example.full_description },
        file: metadata[:file_path].to_s, line: Json.count(metadata[:line_number]) }
    end

    private

    def finished(example, status, **fields)
      notice_dry_run
      @records.emit("example_finished", example: identity(example), status: status,
                                        seconds: Json.seconds(example.execution_result.run_time), **fields)
    end

    # A hook or an example may turn it on as well as the helper.
    def notice_dry_run
      @dry_run = true if ::RSpec.configuration.dry_run?
    end

    def reason(notification) = notification.example.execution_result.pending_message

    def failure(result) = result.exception && Failure.of(result.exception)
  end
end
