# frozen_string_literal: true

module Coatepec
  # How a process that runs tests comes to its end, in whatever way it does.
  #
  # Handlers run last registered first. This one is registered before any test code is loaded and after the app's boot,
  # so it runs after the handlers of the helper and of the run (they may change the exit status, and they count) and
  # instead of those of the boot (they belong to the worker). It leaves by `_exit`: finalizers of C libraries that can't
  # bear a fork have no say in the verdict.
  module Ending
    class << self
      attr_accessor :records

      # The run itself has come to its end. What an exit handler raises from here on, Ruby prints by itself.
      attr_writer :over

      def install = at_exit { call($!) } # rubocop:disable Style/SpecialGlobalVars

      private

      def call(error)
        report(error)
        [$stdout, $stderr, STDOUT, STDERR].each { |io| Fork.flush(io) }
        die_of(error.signo) if error.is_a?(SignalException)
        exit!(status(error))
      end

      def report(error)
        case error
        when nil, SystemExit, SignalException then nil
        else warn error.full_message(highlight: false) unless @over
        end
      rescue StandardError
        nil
      ensure
        records&.emit("exit", status: status(error))
      end

      def status(error)
        case error
        when nil then 0
        when SystemExit then error.status
        when SignalException then 128 + error.signo
        else 1
        end
      end

      # So that whoever waits sees the signal and not a number.
      def die_of(signal)
        trap(signal, "SYSTEM_DEFAULT")
        Process.kill(signal, Records::PID.call)
      rescue ArgumentError, SystemCallError
        nil
      end
    end
  end

  # Answers the question "where does it hang?" when the supervisor asks by signal.
  module Threads
    SIGNAL = "QUIT"
    LIMIT = 20

    class << self
      def dump_on_signal(records)
        trap(SIGNAL) { records.emit("threads", threads: all) }
      end

      private

      def all
        Thread.list.first(LIMIT).map do |thread|
          { name: thread.name, main: thread == Thread.main, status: thread.status.to_s,
            frames: Failure.stack(thread.backtrace) }
        end
      end
    end
  end

  # The test frameworks: what of ours drives each of them, and loads it.
  module Frameworks
    PARTS = { "rspec" => %w[rspec], "minitest" => %w[minitest minitest_catalogue minitest_selection] }.freeze

    class << self
      # At once when it is loaded already.
      def load(name)
        PARTS.fetch(name).each { |part| Coatepec.load_part(part) } unless @loaded == name
        @loaded = name
        name == "rspec" ? RSpecFramework : MinitestFramework
      end
    end
  end

  # One run in a process of its own: a fork of the zygote, or a fresh process.
  class Run
    # Captured early: tests define an `exit` of their own.
    EXIT = Kernel.method(:exit)

    def initialize(request, records)
      @request = request
      @records = records
    end

    # Leaves by `exit`: what comes after is `Ending`.
    def call
      Process.setproctitle("coatepec run #{@request[:run]}")
      ARGV.clear
      profile if @request[:profile]
      Ending.records = @records
      Threads.dump_on_signal(@records)
      limit_files
      notice_refusals if @request[:notice_refusals]
      EXIT.call(run)
    rescue SystemExit
      Ending.over = true
      raise
    end

    private

    def run
      framework = Frameworks.load(@request.fetch(:framework))
      @request[:read_only] ? reading { framework.run(@request, @records) } : framework.run(@request, @records)
    ensure
      LineCoverage.tell(@records) if @request[:coverage] && @records.ours?
    end

    # Beside a run, whose databases they are: who has to write waits for a turn.
    def reading(&)
      return yield unless defined?(::ActiveRecord::Base)

      ::ActiveRecord::Base.while_preventing_writes(&)
    end

    def notice_refusals
      refusals = Refusals.new
      @records.refusals = refusals
      refusals.watch
    end

    def profile
      Coatepec.load_part("profile")
      @records.extend(Profiled).profile = Profile.new
    end

    # The hard limit stays: what may raise its own limits is not what this is for.
    def limit_files
      _soft, hard = Process.getrlimit(:FSIZE)
      Process.setrlimit(:FSIZE, [@request.fetch(:max_file_bytes), hard].min, hard)
    end
  end

  # A run by spawn: nothing was loaded before, so everything is as in the app's own
  # `bundle exec rspec` or `bin/rails test`.
  class Spawn
    def initialize(request, events)
      @request = request
      @records = Records.new(events)
    end

    def run
      ENV["COATEPEC_MODE"] = "spawn"
      Dir.chdir(@request.fetch(:root))
      @records.emit("hello")
      Ending.install
      count_lines if @request[:coverage]
      Run.new(@request, @records).call
    end

    private

    # Before anything of the app is loaded.
    def count_lines
      %w[line_coverage statements].each { |name| Coatepec.load_part(name) }
      LineCoverage.start(@request[:coverage])
    end
  end
end
