# frozen_string_literal: true

module Coatepec
  # Patterns of files, taken apart. Pure.
  module Patterns
    WILD = /[*?\[{\\]/

    class << self
      # "{a,b}/*" is "a/*" and "b/*".
      def alternatives(pattern)
        open = pattern.index("{") or return [pattern]
        depth = 0
        close = (open...pattern.size).find do |at|
          depth += { "{" => 1, "}" => -1 }.fetch(pattern[at], 0)
          depth.zero?
        end
        return [pattern] unless close

        before = pattern[0...open]
        behind = pattern[close + 1..]
        choices(pattern[open + 1...close]).flat_map { |choice| alternatives(before + choice + behind) }
      end

      # Splits at the commas that are in no braces of their own.
      def choices(text)
        depth = 0
        text.each_char.with_object([+""]) do |char, parts|
          depth += { "{" => 1, "}" => -1 }.fetch(char, 0)
          char == "," && depth.zero? ? parts << +"" : parts.last << char
        end
      end

      # A directory, by its name, and the rest of the pattern.
      def apart(pattern, base)
        names = pattern.split("/")
        wild = names.index { |name| name.match?(WILD) } || (names.size - 1)
        dir = names[0...wild].join("/")
        [dir.empty? && pattern.start_with?("/") ? "/" : File.absolute_path(dir, base), names[wild..].join("/")]
      end
    end
  end
end
