# frozen_string_literal: true

module Coatepec
  # An exception as data. Nothing an exception does (raising from #message, invalid bytes, an anonymous class,
  # ten thousand frames) may cost more than its own text.
  module Failure
    MESSAGE_BYTES = 16 * 1024
    FRAMES = 60
    FOREIGN_FRAMES = 10
    CAUSES = 3
    PARTS = 20

    class << self
      def of(error, depth: 0)
        {
          class: class_name(error),
          message: message(error),
          frames: frames(error),
          location: syntax_location(error),
          causes: depth < CAUSES && error.cause ? [of(error.cause, depth: depth + 1)] : [],
          parts: depth.zero? ? parts(error) : []
        }
      end

      # Runs the block for a text that app code produces; says so when that code fails.
      def guard(what)
        clip(Json.text(yield.to_s))
      rescue Exception => e # rubocop:disable Lint/RescueException -- it is the app's code that raises here
        "(#{what} raised #{class_name(e)})"
      end

      private

      def class_name(error)
        klass = error.class
        klass = klass.superclass until (name = Module.instance_method(:name).bind_call(klass))
        klass == error.class ? name : "anonymous subclass of #{name}"
      end

      # `detailed_message` carries "Did you mean?" and the marked source line; it repeats the class, which we have.
      def message(error)
        guard("#message of the exception") do
          case error
          when SyntaxError, SystemExit then error.message
          when NameError, KeyError, TypeError, ArgumentError, LoadError
            error.detailed_message(highlight: false).sub(" (#{error.class})", "")
          else error.message
          end
        end
      end

      # The app's own frames, wherever they are in the stack, and the first of the others. Of a stack overflow both the
      # place where it began and the loop at the top matter.
      def frames(error)
        own, foreign = Array(error.backtrace).partition { |frame| own?(frame) }
        return foreign.first(FOREIGN_FRAMES) if own.empty?
        return own if own.size <= FRAMES

        own.first(FRAMES / 2) + ["(#{own.size - FRAMES} frames left out)"] + own.last(FRAMES / 2)
      rescue StandardError
        []
      end

      def own?(frame)
        frame.start_with?(Coatepec.root, "./") || !frame.start_with?("/", "<internal:", "coatepec/", "-e:")
      end

      # The backtrace of a SyntaxError is that of `require`; where the error is stands in its message only.
      def syntax_location(error)
        return unless error.is_a?(SyntaxError)

        found = error.message[/^(?:--> )?(\S.*?\.\w+):?(\d+)?/] && Regexp.last_match
        line = error.message[/:(\d+):/, 1] || error.message[/^\s*>\s*(\d+)\s+\|/, 1]
        path = error.respond_to?(:path) && error.path ? error.path : found && found[1]
        path && { file: path, line: line.to_i }
      rescue StandardError
        nil
      end

      # What an aggregated failure holds: `aggregate_failures`, or an example that failed together with its hooks.
      def parts(error)
        return [] unless error.respond_to?(:all_exceptions)

        error.all_exceptions.first(PARTS).map { |part| of(part, depth: 1) }
      rescue StandardError
        []
      end

      def clip(text)
        return text if text.bytesize <= MESSAGE_BYTES

        dropped = text.bytesize - MESSAGE_BYTES
        head = text.byteslice(0, MESSAGE_BYTES * 3 / 4).scrub("")
        tail = text.byteslice(-MESSAGE_BYTES / 4, MESSAGE_BYTES / 4).scrub("")
        "#{head}\n… #{dropped} bytes left out …\n#{tail}"
      end
    end
  end
end
