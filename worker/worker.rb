# frozen_string_literal: true

module Coatepec
  # The warm process: Rails booted, no test code and no class of the app loaded. Everything happens on the main thread,
  # because some native libraries only survive a fork from the thread that initialised them.
  class Worker
    include Questions

    def initialize(wire)
      @wire = wire
    end

    def run
      Process.setproctitle("coatepec worker")
      @wire.tell("hello", protocol: PROTOCOL, code: Coatepec.code_hash, pid: Process.pid, ruby: RUBY_VERSION)
      serve { |name, fields, _ios| name == :boot ? boot(fields) : answer_common(name, fields) }
    end

    private

    # Whatever the app raises, `exit` and `abort` included, is an answer and not the end of the worker.
    def boot(fields)
      started = Coatepec.clock
      app = nil
      Boot.call(fields.fetch(:root), fields.fetch(:environment)) { app = hold(started) }
      app.run
    rescue Exception => e # rubocop:disable Lint/RescueException
      app&.fail(e)
      # Something of the app has ended the wait. It will not be there for the next question.
      exit!(1) if @waiting
      @wire.answer("boot_failed", seconds: Coatepec.clock - started, error: Failure.of(e))
    end

    # In the middle of the boot. Comes to an end in forks only.
    def hold(started)
      # Ruby loads its tables of Unicode when they are first used, which any slug or validation does.
      "é".unicode_normalize
      GC.start
      @waiting = true
      @wire.answer("booted", seconds: Coatepec.clock - started, inputs: Boot.inputs)
      serve do |name, fields, ios|
        next answer_common(name, fields) unless name == :app

        app = split(fields, ios)
        return app if app.is_a?(App)
      end
    end

    # The app, in the fork.
    def split(fields, ios)
      if (pid = Fork.split)
        ios.each(&:close)
        @wire.answer("forked", pid: pid)
        nil
      else
        @wire.close
        Boot.eager_load_error = fields[:eager_load_error]
        App.new(*ios)
      end
    rescue SystemCallError => e
      refuse("failed to fork: #{e.message}")
    end
  end
end
