# frozen_string_literal: true

module Coatepec
  # The app with all of its classes: a fork of the worker that has gone on with the boot from where the worker waits.
  # Zygotes and readers are forked from it. When its code changes, it ends, and another one is forked.
  class App
    include Questions

    def initialize(socket, out, err)
      @started = Coatepec.clock
      @wire = Wire.over(socket)
      Process.setproctitle("coatepec app")
      Fork.redirect(out, err)
    end

    def run
      @wire.tell("ready", seconds: Coatepec.clock - @started, versions: Boot.versions, inputs: Boot.inputs,
                          eager_load_error: Boot.eager_load_error, databases: Databases.names,
                          listening: Fork.listening, **Boot.threads)
      serve { |name, fields, ios| handle(name, fields, ios) }
    end

    # The boot has raised something, or wants the process to exit.
    def fail(error)
      @wire.tell("load_failed", seconds: Coatepec.clock - @started, error: Failure.of(error))
      exit!(1)
    end

    private

    def handle(name, fields, ios)
      case name
      when :zygote then fork_into(ios) { Zygote.new(fields, *ios) }
      when :reader then fork_into(ios) { Reader.new(*ios) }
      else answer_common(name, fields)
      end
    end

    def fork_into(ios)
      answer_fork(ios) do
        @wire.close
        yield.run
      end
    end
  end
end
