# frozen_string_literal: true

module Coatepec
  # What a run reports as it happens: one JSON object per line on the private events pipe.
  # Only the process that the supervisor knows as the run writes: a stray `fork` that goes on with the run
  # holds the same pipe, and must not be able to change the verdict.
  class Records
    def initialize(io)
      @fd = io.fileno
      @io = io
      @io.sync = true
      @pid = Process.pid
      @write = io.method(:syswrite)
    end

    attr_reader :pid

    def ours? = PID.call == @pid

    def emit(event, **fields)
      return unless ours?

      write(Json.line({ pid: @pid, e: { event => fields } }))
    rescue SystemCallError, IOError
      # The pipe is gone: the supervisor has given up on this run, or the app closed it. Either way the missing
      # end-of-run record tells the truth.
      nil
    end

    private

    # Captured early: specs stub `Process.pid`.
    PID = Process.method(:pid)

    def write(line)
      line = line.byteslice(@write.call(line)..) until line.empty?
    end
  end
end
