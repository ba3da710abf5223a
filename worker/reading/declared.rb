# frozen_string_literal: true

module Coatepec
  module Reading
    # Where a class says something by a macro (`scope :live`, `has_many :parts`) that leaves no trace of its place. The
    # class's own files are looked at, as text: a macro that is written in an unusual way has no place.
    module Declared
      FILES = 50
      BYTES = 1024 * 1024

      class << self
        # To be called before each question: files change.
        def fresh = @lines = {}

        # @param macros [Array<String>]
        # @return [String, nil] "app/models/widget.rb:12"
        def at(klass, macros, name)
          pattern = /\A\s*(?:#{Regexp.union(macros)})[\s(]+:?["']?(?:[A-Z]\w*::)*#{Regexp.escape(name)}(?![\w?!])/
          files(klass).each do |file|
            index = lines(file).index { |line| pattern.match?(line) }
            return "#{file}:#{index + 1}" if index
          end
          nil
        end

        # Lines of the class's own files, as they are written.
        # @param pattern [Regexp] with a group for what is shown
        def lines_of(klass, pattern)
          files(klass).flat_map do |file|
            lines(file).each_with_index.filter_map do |line, index|
              { code: Text.text(line[pattern, 1].strip), at: "#{file}:#{index + 1}" } if line.match?(pattern)
            end
          end
        end

        private

        # Of the class, of what it inherits from and of what it includes.
        def files(klass)
          places = Plain.ancestors(klass).filter_map { |mod| Place.of_module(mod) }
          own = places.select { |place| Place.own?(place) }
          own.map { |place| place.sub(/:\d+\z/, "") }.uniq.first(FILES)
        end

        def lines(file)
          fresh unless @lines
          @lines[file] ||= Json.text(File.read(File.join(Coatepec.root, file), BYTES) || "").lines
        rescue SystemCallError
          @lines[file] = []
        end
      end
    end
  end
end
