# frozen_string_literal: true

require "json"

module Coatepec
  # JSON that never raises on what a test may contain: invalid bytes, odd encodings, NaN, unknown objects.
  # The generator is captured before any app code runs, so that stubs and patches of JSON don't reach it.
  module Json
    GENERATE = JSON.method(:generate)
    PARSE = JSON.method(:parse)

    class << self
      def line(object) = GENERATE.call(plain(object)) << "\n"

      def parse(text) = PARSE.call(text.dup.force_encoding(Encoding::UTF_8), symbolize_names: true)

      # Valid UTF-8 whatever came in. Binary text is read as UTF-8 first, since that is what it mostly is.
      def text(string)
        string = String.new(string)
        string.force_encoding(Encoding::UTF_8) if string.encoding == Encoding::BINARY
        replaced(string).scrub("\u{FFFD}")
      rescue StandardError
        replaced(String.new(string, encoding: Encoding::BINARY))
      end

      # A number that should be a small whole one, and that an app may have put something else in the place of.
      def count(value) = value.is_a?(Integer) ? value.clamp(0, 0xFFFF_FFFF) : 0

      # The same, of seconds.
      def seconds(value)
        seconds = Float(value)
        seconds.finite? ? seconds : 0.0
      rescue StandardError
        0.0
      end

      private

      # Some converters let invalid bytes through and call them valid: forgetting the encoding makes Ruby look again.
      def replaced(string)
        return string if string.encoding == Encoding::UTF_8

        string.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).b.force_encoding(Encoding::UTF_8)
      end

      def plain(object)
        case object
        when Hash then object.to_h { |key, value| [key.to_s, plain(value)] }
        when Array then object.map { |value| plain(value) }
        when String then text(object)
        when Symbol then text(object.to_s)
        when Float then object.finite? ? object : nil
        when Integer, true, false, nil then object
        else text(object.to_s)
        end
      end
    end
  end
end
