# frozen_string_literal: true

module Coatepec
  # Which of the loaded tests were asked for: whole files, lines, names, and the text of `example`.
  class MinitestSelection
    attr_reader :tests, :unmatched

    # `chosen` of the request: file by file, with lines or a name or neither.
    def initialize(tests, request)
      @by_file = tests.group_by(&:file)
      @unmatched = []
      @by_name = request[:example] || mixed?(request.fetch(:chosen))
      chosen = request.fetch(:chosen).flat_map { |choice| choose(choice) }
      @wanted = chosen.to_h { |test| [test, true] }.compare_by_identity
      @tests = tests.select { |test| @wanted[test] && text?(test, request[:example]) }
    end

    # From here on, each class has no other tests than these.
    def apply
      wanted = Hash.new { |all, klass| all[klass] = {} }.compare_by_identity
      @tests.each { |test| wanted[test.klass][test.name] = true }
      only = Module.new { define_method(:runnable_methods) { super().select { |name| wanted[self][name] } } }
      ::Minitest::Runnable.runnables.each { |klass| klass.singleton_class.prepend(only) }
    end

    # Class and name, or a name alone, by which Minitest's own `-n` knows the tests: where paths and lines would not
    # lead to the same ones, and there are not too many.
    def known_as
      return [] unless @by_name && @tests.size <= KNOWN_AS

      known = @tests.map { |test| { class: constant(test.klass), name: Json.text(test.name) } }
      known.sum { |names| names.values.join.bytesize } <= KNOWN_AS_BYTES ? known : []
    end

    private

    # What a person can paste.
    KNOWN_AS = 50
    KNOWN_AS_BYTES = 4096

    # Rails takes paths for patterns, and holds what these find against the path as it was typed.
    PATTERN = /[*?\[{]/

    # `-n` holds for all files, and Rails applies lines to all files that are named without.
    def mixed?(chosen)
      chosen.any? { |choice| choice[:name] || PATTERN.match?(choice[:path]) } ||
        chosen.map { |choice| choice[:lines].empty? }.uniq.size > 1
    end

    # A class that overrides its name is known by the constant all the same.
    def constant(klass)
      name = Failure.guard("the name of a class") { klass.to_s }
      name unless name.start_with?("#<")
    end

    def choose(choice)
      file = choice.fetch(:path)
      tests = @by_file.fetch(file, [])
      return tests if choice[:lines].empty? && !choice[:name]

      parts = choice[:lines].map { |line| [":#{line}", at_line(file, tests, line)] }
      parts << ["##{choice[:name]}", named(tests, choice[:name])] if choice[:name]
      parts.each { |suffix, found| @unmatched << "#{file}#{suffix}" if found.empty? }
      parts.flat_map(&:last)
    end

    # `test_name`, `Class#test_name` or `Class`; with the text of `test "…"` for the name, too.
    def named(tests, name)
      exactly = tests.select { |test| [test.full_name, test.name, test.label].include?(name) }
      return exactly if exactly.any?

      tests.select { |test| test.name == "test_#{name.delete_prefix("#{test.label}#").gsub(/\s+/, "_")}" }
    end

    # Tests have underscores where their author wrote spaces.
    def text?(test, text)
      text.nil? || [text, text.gsub(/\s+/, "_")].any? { |form| test.full_name.include?(form) }
    end

    # Those whose definition the line is in; else those of the nearest test, class or block that begins before it.
    def at_line(file, tests, line)
      own = tests.select(&:in_file?)
      within = own.select { |test| line.between?(test.line, test.last_line) }
      # For Rails, only lines within a test stand for it, and of other classes than its own all tests run.
      @by_name ||= within.empty? || !tests.all? { |test| of_rails?(test.klass) }
      return within if within.any?

      declarations(file, tests, own).select { |first, _| first <= line }.max_by(&:first)&.last.to_a
    end

    # Whether lines mean anything to it: an app may do without that part of Rails, a class without its base class.
    def of_rails?(klass) = defined?(::Rails::LineFiltering) && klass.singleton_class.include?(::Rails::LineFiltering)

    def declarations(file, tests, own)
      @declarations ||= {}
      @declarations[file] ||= merged(own.map { |test| [test.line, [test]] } + classes(file, tests) + scopes(file, own))
    end

    # What begins in one line is meant together.
    def merged(pairs) = pairs.group_by(&:first).transform_values { |same| same.flat_map(&:last).uniq }

    # With what they inherit and what macros made for them.
    def classes(file, tests)
      tests.group_by(&:klass).filter_map do |klass, of_class|
        source, line = klass.name && Object.const_source_location(klass.name)
        [line, of_class] if source && File.expand_path(source) == File.expand_path(file)
      rescue NameError
        nil # What `describe` makes has a name that is no constant's.
      end
    end

    # Blocks that hold tests: `describe`, or a loop that generates them.
    def scopes(file, own)
      MinitestLines.scopes(file).filter_map do |lines|
        inside = own.select { |test| lines.cover?(test.line..test.last_line) && lines != (test.line..test.last_line) }
        [lines.first, inside] if inside.any?
      end
    end
  end
end
