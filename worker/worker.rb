# frozen_string_literal: true

module Coatepec
  # The warm process: Rails booted, no test code loaded. Everything happens on the main thread, because some native
  # libraries only survive a fork from the thread that initialised them.
  class Worker
    include Questions

    def initialize(wire)
      @wire = wire
    end

    def run
      Process.setproctitle("coatepec worker")
      @wire.tell("hello", protocol: PROTOCOL, code: Coatepec.code_hash, pid: Process.pid, ruby: RUBY_VERSION)
      @wire.each_question { |name, fields, ios| handle(name, fields, ios) }
      exit!(0)
    end

    private

    def handle(name, fields, ios)
      case name
      when :boot then attempt("ready", "boot_failed") { boot(fields) }
      when :reload then attempt("reloaded", "reload_failed") { reload }
      when :zygote then zygote(fields, ios)
      when :reader then reader(ios)
      else answer_common(name, fields)
      end
    end

    # Whatever the app raises, `exit` and `abort` included, is an answer and not the end of the worker.
    def attempt(done, failed)
      started = Coatepec.clock
      fields = yield
      @wire.answer(done, seconds: Coatepec.clock - started, **fields)
    rescue Exception => e # rubocop:disable Lint/RescueException
      @wire.answer(failed, seconds: Coatepec.clock - started, error: Failure.of(e))
    end

    def boot(fields)
      Boot.call(fields.fetch(:root), fields.fetch(:environment))
      # Ruby loads its tables of Unicode when they are first used, which any slug or validation does.
      "é".unicode_normalize
      GC.start
      {
        versions: Boot.versions, inputs: Boot.inputs, eager_load_error: Boot.eager_load_error,
        threads: Guard.threads, native: Guard.native, databases: Databases.names, listening: Fork.listening
      }
    end

    def reload
      held = Boot.reload
      { inputs: Boot.inputs, eager_load_error: Boot.eager_load_error, held: held }
    end

    def zygote(fields, ios)
      answer_fork(ios) do
        @wire.close
        Zygote.new(fields, *ios).run
      end
    end

    def reader(ios)
      answer_fork(ios) do
        @wire.close
        Reader.new(*ios).run
      end
    end
  end
end
