# frozen_string_literal: true

module Coatepec
  # An exception as data. Nothing an exception does (raising from #message, invalid bytes, an anonymous class,
  # ten thousand frames) may cost more than its own text.
  module Failure
    MESSAGE_BYTES = 16 * 1024
    # Of a cause, or of a part of an aggregated failure: there may be many, and all of them travel in one line.
    INNER_BYTES = 2 * 1024
    FRAMES = 60
    INNER_FRAMES = 12
    FOREIGN_FRAMES = 10
    FRAME_BYTES = 400
    CAUSES = 3
    PARTS = 20

    # Captured early: exceptions may have a `cause` or a `backtrace` of their own idea.
    CAUSE = Exception.instance_method(:cause)

    class << self
      def of(error) = describe(error, MESSAGE_BYTES, FRAMES).merge(causes: causes(error), parts: parts(error))

      # Runs the block for a text that app code produces; says so when that code fails.
      def guard(what, bytes = MESSAGE_BYTES)
        clip(Json.text(yield.to_s), bytes)
      rescue SignalException
        raise # It came from elsewhere, at this moment, and means the process.
      rescue Exception => e # rubocop:disable Lint/RescueException -- it is the app's code that raises here
        "(#{what} raised #{class_name(e)})"
      end

      # The frames of a thread, as those of an exception.
      def stack(frames) = cut(select(Array(frames), FRAMES))

      private

      def describe(error, bytes, limit)
        { class: class_name(error), message: message(error, bytes), frames: frames(error, limit),
          location: syntax_location(error) }
      end

      # From the nearest on; without those of the parts, which would be a tree.
      def causes(error)
        found = []
        while found.size < CAUSES && (error = CAUSE.bind_call(error)) && !found.include?(error)
          found << error
        end
        nested(found)
      end

      # The nearest cause holds the one behind it, and so on.
      def nested(errors)
        errors.reverse.inject([]) { |inner, error| [inside(error).merge(causes: inner, parts: [])] }
      end

      def inside(error) = describe(error, INNER_BYTES, INNER_FRAMES)

      def class_name(error)
        klass = error.class
        klass = klass.superclass until (name = Module.instance_method(:name).bind_call(klass))
        klass == error.class ? name : "anonymous subclass of #{name}"
      end

      # `detailed_message` carries "Did you mean?" and the marked source line; it repeats the class, which we have.
      def message(error, bytes)
        guard("#message of the exception", bytes) do
          # The parts stand beside it, each by itself.
          next error.summary if aggregate?(error) && error.respond_to?(:summary)

          case error
          when SyntaxError, SystemExit then error.message
          when NameError, KeyError, TypeError, ArgumentError, LoadError
            error.detailed_message(highlight: false).sub(" (#{error.class})", "")
          else error.message
          end
        end
      end

      # The app's own frames, wherever they are in the stack, else the first of the others. Of a stack overflow both the
      # place where it began and the loop at the top matter.
      def frames(error, limit)
        cut(select(Array(error.backtrace), limit))
      rescue StandardError
        []
      end

      # Also for the frames of a thread.
      def select(frames, limit)
        own, foreign = frames.partition { |frame| own?(frame) }
        return foreign.first(FOREIGN_FRAMES) if own.empty?
        return own if own.size <= limit

        own.first(limit / 2) + ["(#{own.size - limit} frames left out)"] + own.last(limit / 2)
      end

      def cut(frames) = frames.map { |frame| clip(Json.text(frame), FRAME_BYTES) }

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
        return [] unless aggregate?(error)

        errors = error.all_exceptions.grep(Exception).first(PARTS)
        errors.map { |part| inside(part).merge(causes: [], parts: []) }
      rescue StandardError
        []
      end

      def aggregate?(error) = error.respond_to?(:all_exceptions)

      def clip(text, bytes)
        return text if text.bytesize <= bytes

        head = text.byteslice(0, bytes * 3 / 4).scrub("")
        tail = text.byteslice(-bytes / 4, bytes / 4).scrub("")
        "#{head}\n… #{text.bytesize - bytes} bytes left out …\n#{tail}"
      end
    end
  end
end
