# frozen_string_literal: true

module Coatepec
  # One test method of one class.
  MinitestTest = Struct.new(:klass, :name, :file, :label, :source, :line, :last_line) do
    def id = "./#{file}##{full_name}"

    # As a name on one line, which an id has to be.
    def full_name = @full_name ||= Json.text("#{label}##{name}").gsub(/[[:cntrl:]]/, " ")

    def identity = { id: id, description: full_name, file: "./#{source}", line: line }

    # Where the caller finds it, be it defined there or by a macro or a module of another file.
    def in_file? = source == file
  end

  # The tests that were loaded, by the files that they belong to: the one that defines them, or the one that defines
  # their class, if a macro or a module of another file makes them.
  class MinitestCatalogue
    # `files`: those of the selection.
    def initialize(files)
      @files = files.to_h { |file| [file, true] }
      @homes = {}.compare_by_identity
      @labels = {}.compare_by_identity
      @named = Hash.new(0)
      @tests_of = Hash.new { |all, klass| all[klass] = {} }.compare_by_identity
    end

    def loading(file)
      known = runnables.dup
      yield
    ensure
      (runnables - known).each { |klass| @homes[klass] ||= file }
    end

    # Of the files of the selection, in the order they were loaded.
    def tests
      @tests ||= runnables.flat_map { |klass| names(klass).map { |name| test(klass, name) } }
                          .select { |test| @files[test.file] }
    end

    def test(klass, name)
      @tests_of[klass][name.to_s] ||= make(klass, name.to_s)
    end

    private

    def runnables = ::Minitest::Runnable.runnables

    def names(klass) = klass.runnable_methods.sort

    def make(klass, name)
      method = klass.instance_method(name)
      source, line = method.source_location
      source = source ? relative(source) : ""
      file = home(klass, method, source)
      MinitestTest.new(klass, name, file, label(klass, file), source, line.to_i, last_line(method) || line.to_i)
    rescue NameError
      MinitestTest.new(klass, name, @homes[klass].to_s, label(klass, @homes[klass]), "", 0, 0)
    end

    def home(klass, method, source)
      elsewhere = method.owner.equal?(klass) && source.end_with?("_test.rb")
      @files[source] || elsewhere ? source : @homes[klass].to_s
    end

    # Two classes of a file may have one name, or none: then they count.
    def label(klass, file)
      @labels[klass] ||= begin
        name = class_name(klass)
        same = @named[[file, name]] += 1
        same == 1 ? name : "#{name} (#{same})"
      end
    end

    def class_name(klass)
      Failure.guard("the name of a class") { klass.name || "(anonymous)" }
    end

    # The instructions of a method know its last line, however it was defined.
    def last_line(method) = MinitestLines.last(RubyVM::InstructionSequence.of(method))

    def relative(path) = File.expand_path(path).delete_prefix(Coatepec.root)
  end

  # What the compiled form of a file tells of its lines. Compiling runs nothing.
  module MinitestLines
    class << self
      def last(code)
        return unless code

        lines = code.trace_points.map(&:first)
        code.each_child { |child| lines << last(child) }
        lines.compact.max
      end

      # First and last line of each class body, method and block of a file.
      def scopes(path)
        found = []
        collect(RubyVM::InstructionSequence.compile_file(path), found)
        found
      rescue SystemCallError, SyntaxError
        [] # Loaded, and changed since.
      end

      private

      def collect(code, found)
        code.each_child do |child|
          found << (child.first_lineno..last(child).to_i)
          collect(child, found)
        end
      end
    end
  end
end
