# frozen_string_literal: true

module Coatepec
  # Has the test framework and the app's helper loaded, and forks a child for each run.
  class Zygote
    include Questions

    def initialize(request, socket, out, err)
      @request = request
      @wire = Wire.over(socket)
      @out = out
      @err = err
    end

    def run
      Process.setproctitle("coatepec zygote #{@request[:framework]}")
      Fork.close_listening
      Fork.redirect(@out, @err)
      %w[child coverage memory_database refusals].each { |name| Coatepec.load_part(name) }
      Ending.install
      preload ? serve { |name, fields, ios| handle(name, fields, ios) } : exit!(0)
    end

    private

    # Loading the helper is app code: whatever it raises (a pending migration aborts) is reported as it is.
    def preload
      started = Coatepec.clock
      stop_reloading
      Traces.during(:helper) do
        Frameworks.load(@request.fetch(:framework)).preload(@request[:preload] || [])
        warm_up
      end
      @wire.tell("loaded", seconds: Coatepec.clock - started,
                           features: Boot.outside_gems($LOADED_FEATURES + Boot.factory_files),
                           traces: Traces.of(:helper, Boot.known_files), versions: Boot.versions, outdated: @outdated)
      true
    rescue Exception => e # rubocop:disable Lint/RescueException
      @wire.tell("load_failed", seconds: Coatepec.clock - started, error: Failure.of(e))
      false
    end

    def handle(name, fields, ios)
      case name
      when :run then answer_fork(ios) { child(fields, *ios) }
      else answer_common(name, fields)
      end
    end

    def child(fields, out, err, events, go)
      @wire.close
      Process.setsid
      # Nothing of the app runs before the supervisor holds this process by a descriptor.
      exit!(0) unless go.read(1)
      go.close
      Fork.redirect(out, err)
      ENV["COATEPEC_MODE"] = "fork"
      records = Records.new(events)
      Ending.records = records
      leave_to_another(records) if fields[:ask_tables] && outdated?
      records.emit("coverage_skipped") if CoverageTools.silence
      MemoryDatabase.restore
      Run.new(fields, records).call
    end

    # Nothing has been run: the supervisor has the code loaded again.
    def leave_to_another(records)
      records.emit("outdated")
      exit!(0)
    end

    # A run begins without a connection, as a fresh process does.
    def outdated? = Tables.outdated?.tap { Fork.disconnect }

    # Whether anything changed is decided before a run and never in the middle of one.
    def stop_reloading
      Rails.application.reloader.check = -> { false }
    end

    # What every child would otherwise do again: ask the database for its tables, and copy pages the collector touches.
    def warm_up
      load_schemas
      # The helper may have made other tables than the classes have seen when they were loaded.
      @outdated = Tables.outdated?
      Tables.remember
      Fork.disconnect
      Process.respond_to?(:warmup) ? Process.warmup : GC.start
    end

    def load_schemas
      return unless defined?(::ActiveRecord::Base)

      ::ActiveRecord::Base.descendants.each do |model|
        model.load_schema unless model.abstract_class?
      rescue StandardError
        nil # No table, no database: the spec that needs it will say so.
      end
    end
  end
end
