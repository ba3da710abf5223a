# frozen_string_literal: true

module Coatepec
  # The warm process: Rails booted, no test code loaded. Everything happens on the main thread, because some native
  # libraries only survive a fork from the thread that initialised them.
  class Worker
    def initialize(wire)
      @wire = wire
    end

    def run
      Process.setproctitle("coatepec worker")
      @wire.tell("hello", protocol: PROTOCOL, code: Coatepec.code_hash, pid: Process.pid, ruby: RUBY_VERSION)
      while (message, ios = @wire.receive)
        handle(message, ios)
      end
      exit!(0)
    end

    private

    def handle(message, ios)
      case message[:type]
      when "boot" then answer(message, "ready", "boot_failed") { boot(message) }
      when "reload" then answer(message, "reloaded", "reload_failed") { reload }
      when "zygote" then zygote(message, ios)
      when "reap" then @wire.tell("reaped", id: message[:id], **Fork.reap(message[:pid]))
      when "ping" then @wire.tell("pong", id: message[:id])
      else @wire.tell("refused", id: message[:id], reason: "unknown message #{message[:type].inspect}")
      end
    end

    # Whatever the app raises, `exit` and `abort` included, is an answer and not the end of the worker.
    def answer(message, done, failed)
      started = Coatepec.clock
      fields = yield
      @wire.tell(done, id: message[:id], seconds: Coatepec.clock - started, **fields)
    rescue Exception => e # rubocop:disable Lint/RescueException
      @wire.tell(failed, id: message[:id], seconds: Coatepec.clock - started, error: Failure.of(e))
    end

    def boot(message)
      Boot.call(message.fetch(:root), message.fetch(:environment))
      GC.start
      { versions: Boot.versions, inputs: Boot.inputs, eager_load_error: Boot.eager_load_error }
    end

    def reload
      Boot.reload
      { inputs: Boot.inputs, eager_load_error: Boot.eager_load_error }
    end

    def zygote(message, ios)
      pid = Fork.start do
        @wire.close
        Zygote.new(message, *ios).run
      end
      ios.each(&:close)
      @wire.tell("forked", id: message[:id], pid: pid)
    rescue SystemCallError => e
      @wire.tell("refused", id: message[:id], reason: "failed to fork: #{e.message}")
    end
  end
end
