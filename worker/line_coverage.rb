# frozen_string_literal: true

require "coverage"

module Coatepec
  # Ruby's own counter of executed lines, and what it counted so far. There is one for the process: a coverage tool
  # of the app shares it with us (`SharedCoverage`), and neither can stop or clear what the other one counts.
  module LineCounter
    RAW = %i[setup resume peek_result result].to_h { |name| [name, ::Coverage.method(name)] }.freeze

    class << self
      def start
        @before = {}
        RAW[:setup].call(lines: true)
        RAW[:resume].call
        ::Coverage.singleton_class.prepend(SharedCoverage)
      end

      # With other measures than ours. What is loaded by now is not counted any more, but what was counted is kept.
      def restart(modes)
        keep
        RAW[:result].call(stop: true, clear: true)
        RAW[:setup].call(**modes)
        RAW[:resume].call
      end

      def clear
        keep
        RAW[:result].call(stop: false, clear: true)
      end

      def now = RAW[:peek_result].call

      # How often each line was executed, by file; nil is a line that can't be.
      def totals
        now.each_with_object(@before.dup) do |(path, entry), totals|
          next unless LineCoverage.ours?(path)

          lines = lines(path, entry)
          totals[path] = totals[path] ? sum(totals[path], lines) : lines
        end
      end

      private

      def keep = @before = totals

      def lines(path, entry) = entry[:lines] || marked(LineCoverage.stub(path) || [], entry.fetch(:oneshot_lines, []))

      def marked(lines, executed)
        executed.each { |line| lines[line - 1] = 1 }
        lines
      end

      def sum(one, other)
        Array.new([one.size, other.size].max) do |at|
          one[at] || other[at] ? one[at].to_i + other[at].to_i : nil
        end
      end
    end
  end

  # What a coverage tool of the app sees of it: as if it were there alone, from when it starts.
  module SharedCoverage
    # Whoever wants to compile code in some other way has to know that lines are counted, whoever wants that.
    COMPILER = %r{/bootsnap/}

    NOT_ENABLED = "coverage measurement is not enabled"

    ALL = %i[lines branches methods eval].freeze

    class << self
      # Of the app's tool: nil, :suspended or :running, what it measures, and what was loaded before it.
      attr_accessor :state, :modes, :hidden
    end

    def setup(*arguments)
      raise "coverage measurement is already setup" if SharedCoverage.state

      modes = SharedCoverage.asked(arguments.first)
      LineCounter.restart(SharedCoverage.with_lines(modes)) unless modes[:lines] && modes.size == 1
      SharedCoverage.modes = arguments.empty? ? nil : modes.keys
      SharedCoverage.hidden = LineCounter.now.transform_values { true }
      SharedCoverage.state = :suspended
      nil
    end

    def start(*arguments)
      setup(*arguments)
      resume
    end

    def resume
      raise "coverage measurement is not set up yet" unless SharedCoverage.state

      SharedCoverage.state = :running
      nil
    end

    def suspend
      raise "coverage measurement is not running" unless SharedCoverage.state == :running

      SharedCoverage.state = :suspended
      nil
    end

    def running?
      SharedCoverage.state == :running || caller_locations(1, 1).first&.path.to_s.match?(COMPILER)
    end

    def peek_result
      raise NOT_ENABLED unless SharedCoverage.state

      SharedCoverage.view
    end

    def result(stop: true, clear: true)
      peek_result.tap do
        LineCounter.clear if clear || stop
        SharedCoverage.state = nil if stop
      end
    end

    class << self
      def asked(argument)
        case argument
        when nil then { lines: true }
        when :all then ALL.select { |mode| ::Coverage.supported?(mode) }.to_h { |mode| [mode, true] }
        else argument.to_h.select { |_, wanted| wanted }
        end
      end

      # Lines that are counted once can't be counted every time.
      def with_lines(modes) = modes[:oneshot_lines] ? modes : modes.merge(lines: true)

      def view
        seen = LineCounter.now.reject { |path, _| hidden[path] }
        seen.transform_values { |entry| modes ? entry.slice(*modes) : entry[:lines] }
      end
    end
  end

  # Which lines of the app a run executes. Only in a fresh process, and begun before anything of the app is loaded: what
  # is there already is not counted.
  module LineCoverage
    # Below the root, and none of it the app's.
    FOREIGN = %r{\A(?:vendor|node_modules|tmp|log|\.bundle)/}

    # Seconds that may be spent on finding out which test file executed what; then the rest stays unknown.
    PATIENCE = 10

    # Files of one record.
    FILES = 50
    TOUCHED = 1000

    class << self
      # `wanted`: the files of which lines are to be told.
      def start(wanted)
        @wanted = wanted
        @touched = {}
        @spent = 0
        LineCounter.start
      end

      # Tests of another file come next.
      def entering(test)
        return if test == @test

        settle
        @test = test
      end

      # What RSpec's reporter says of each group.
      def example_group_started(notification)
        group = notification.group
        entering(group.metadata[:rerun_file_path].to_s.delete_prefix("./")) if group.parent_groups.one?
      end

      # As far as it came.
      def tell(records)
        settle
        @test = nil
        totals = LineCounter.totals
        @wanted.each_slice(FILES) do |paths|
          records.emit("covered", lines: paths.map { |path| told(path, totals[Coatepec.root + path]) })
        end
        @touched.each do |test, files|
          files.each_slice(TOUCHED) { |some| records.emit("touched", test: test, files: some.map(&:first)) }
        end
      rescue StandardError => e
        records.emit("covered", lines: [], broken: Failure.guard("a reason") { "#{e.class}: #{e.message}" })
      end

      def ours?(path) = path.start_with?(Coatepec.root) && !path.delete_prefix(Coatepec.root).match?(FOREIGN)

      # The lines that can be executed, of a file that need not be loaded; nil if it is no Ruby.
      def stub(path)
        ::Coverage.line_stub(path)
      rescue SyntaxError, SystemCallError
        nil
      end

      private

      # What was executed since the last time is of the tests in between.
      def settle
        return @mark = nil if @spent > PATIENCE

        started = Coatepec.clock
        totals = LineCounter.totals
        note(totals) if @test && @mark
        @mark = totals
        @spent += Coatepec.clock - started
      end

      def note(totals)
        files = (@touched[@test] ||= {})
        totals.each do |path, lines|
          before = @mark[path]
          next if before == lines || lines.none? { |count| count&.positive? }

          files[path.delete_prefix(Coatepec.root)] = true
        end
        files.delete(@test)
      end

      def told(path, lines)
        loaded = !lines.nil?
        lines ||= stub(Coatepec.root + path)
        return { path: path } unless lines

        lines = Statements.spread(Coatepec.root + path, lines)
        { path: path, loaded: loaded, executed: ranges(lines) { |count| count&.positive? },
          missed: ranges(lines) { |count| count&.zero? } }
      end

      # `3-7,12`
      def ranges(lines)
        numbers = lines.each_index.select { |at| yield lines[at] }
        numbers.slice_when { |one, other| other > one + 1 }
               .map { |run| run.size == 1 ? (run.first + 1).to_s : "#{run.first + 1}-#{run.last + 1}" }.join(",")
      end
    end
  end
end
