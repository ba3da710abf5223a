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
      @pipe = identity
    end

    # What is noticed beside the run, and told ahead of the next record.
    attr_writer :refusals

    def ours? = PID.call == @pid

    def emit(event, **fields)
      return unless ours?

      noticed = @refusals&.take
      write(line("files_refused", noticed)) if noticed
      write(line(event, fields))
    rescue SystemCallError, IOError
      # The pipe is gone: the supervisor has given up on this run, or the app closed it. Either way the missing
      # end-of-run record tells the truth.
      nil
    end

    # All files are loaded. The ids of a large selection travel in several lines, since one has a limit.
    def emit_started(**fields)
      ids, unmatched = fields.fetch_values(:ids, :unmatched)
      emit("started", **fields, ids: ids.first(IDS), unmatched: unmatched.first(IDS))
      ids.drop(IDS).each_slice(IDS) { |more| emit("selected", ids: more) }
    end

    # `examples`: of a listing, in chunks that fit into a line.
    def emit_listed(examples) = examples.each_slice(LISTED) { |some| emit("listed", examples: some) }

    # Captured early: specs stub `Process.pid`.
    PID = Process.method(:pid)

    private

    # With the longest paths there are, these still fit in a line, also twice.
    IDS = 100

    LISTED = 100

    # A longer line would be dropped whole, and what it says with it: better without its details.
    LINE_BYTES = 1_000_000

    def line(event, fields)
      at = CLOCK.call(Process::CLOCK_MONOTONIC, :nanosecond)
      line = Json.line({ pid: @pid, at: at, e: { event => fields } })
      return line if line.bytesize < LINE_BYTES

      Json.line({ pid: @pid, at: at, e: { event => without_details(fields) } })
    end

    def without_details(value)
      case value
      when Hash then value.transform_values { |inner| without_details(inner) }
      when Array then []
      when String then value.byteslice(0, 1000)
      else value
      end
    end

    def identity = @io.stat.then { |stat| [stat.dev, stat.ino] }

    # Code that closes all descriptors and opens files of its own may have put one of them in our place.
    def write(line)
      raise IOError, "the pipe is gone" unless identity == @pipe

      line = line.byteslice(@write.call(line)..) until line.empty?
    end
  end
end
