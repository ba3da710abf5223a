# frozen_string_literal: true

module Coatepec
  # What the worker and its forks answer alike.
  module Questions
    private

    # Until the supervisor is gone. The process ends here, then or by a signal: it may be in the middle of a boot, and
    # what is below it on the stack is the app's.
    def serve(&)
      @wire.each_question(&)
      exit!(0)
    rescue SignalException => e
      trap(e.signo, "SYSTEM_DEFAULT")
      Process.kill(e.signo, Process.pid)
      exit!(1)
    end

    def answer_common(name, fields)
      case name
      when :facts then @wire.answer("facts", **Guard.facts(fields[:gems]))
      when :reap then @wire.answer("reaped", **Fork.reap(fields[:pid]))
      when :ping then @wire.answer("pong")
      else refuse("unknown question #{name}")
      end
    end

    # Forks, lets go of what only the fork needs, and tells of it.
    def answer_fork(ios, &)
      pid = Fork.start(&)
      ios.each(&:close)
      @wire.answer("forked", pid: pid)
    rescue SystemCallError => e
      refuse("failed to fork: #{e.message}")
    end

    def refuse(reason) = @wire.answer("refused", reason: reason)
  end
end
