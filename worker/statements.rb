# frozen_string_literal: true

module Coatepec
  # Of a statement of several lines Ruby counts one, and not always the first. The others count as that one does.
  #
  # What may be executed without it is no part of it, such as the branches of an `if` or the body of a block: these
  # have statements of their own. What no statement is executed with stays uncounted: parameters, `else`, `when 1`.
  class Statements
    # Comments, blank lines and what only closes something.
    NOTHING = /\A\s*(?:#.*|end\b[\s)\]},;]*|[)\]}\s,;|]*)?\z/

    # What these begin with is text in the source; else they are written behind or within an expression.
    BRANCHING = %i[IF UNLESS WHILE UNTIL].freeze
    KEYWORD = /\A(?:if|unless|elsif|while|until)\b/

    # `case` in its three kinds, and what it has.
    CASES = %i[CASE CASE2 CASE3].freeze
    BRANCH = %i[WHEN IN].freeze

    LISTS = %i[BLOCK BEGIN].freeze
    DEFINITIONS = %i[DEFN DEFS CLASS MODULE SCLASS].freeze

    class << self
      # `lines`: how often each line of this file was executed, nil for one that Ruby doesn't count.
      def spread(path, lines)
        verbose = $VERBOSE
        $VERBOSE = nil
        new(File.read(path)).spread(lines)
      rescue StandardError, ScriptError, SystemStackError
        lines
      ensure
        $VERBOSE = verbose
      end
    end

    def initialize(source)
      @text = source.lines
      # The lines of each statement, those of other statements within it aside.
      @statements = []
      statements(RubyVM::AbstractSyntaxTree.parse(source).children[2])
      @heredocs = heredocs(source)
    end

    def spread(lines)
      spread = lines.dup
      @statements.each { |statement| fill(statement.sort, lines, spread) }
      @heredocs.each { |line, opener| spread[line - 1] ||= spread[opener - 1] if line <= lines.size }
      spread
    end

    private

    def fill(statement, lines, spread)
      count = statement.filter_map { |line| lines[line - 1] }.first
      return unless count

      statement.each { |line| spread[line - 1] ||= count if line <= lines.size && !NOTHING.match?(@text[line - 1]) }
    end

    # Notes what is executed one after the other.
    def statements(node)
      return unless node?(node)
      return node.children.each { |child| statements(child) } if LISTS.include?(node.type)

      lines = lines(node)
      @statements << lines if lines.any?
    end

    # The lines that are executed whenever this is.
    def lines(node)
      case node.type
      when *BRANCHING then keyword?(node) ? branching(node) : expression(node)
      when *CASES then chosen(node)
      when *BRANCH then branch(node)
      when :RESBODY then rescued(node)
      when :SCOPE then scope(node)
      when *DEFINITIONS then definition(node)
      when :RESCUE, :ENSURE, *LISTS then separate(node.children)
      else expression(node)
      end
    end

    def keyword?(node)
      KEYWORD.match?(@text[node.first_lineno - 1].to_s.byteslice(node.first_column..).to_s)
    end

    def branching(node)
      condition, *branches = node.children
      separate(branches)
      head(node, condition)
    end

    def chosen(node)
      value, branches = node.children
      separate([branches])
      head(node, value)
    end

    # What is compared is reached by those values only that fitted nothing before.
    def branch(node) = separate(node.children.drop(1))

    # Its classes likewise.
    def rescued(node) = separate(node.children.drop(1))

    # Of a block or a lambda, the lines on which it begins and ends are of what it is given to.
    def scope(node)
      separate([node.children[2]])
      [node.first_lineno, node.last_lineno]
    end

    def definition(node)
      *rest, body = node.children
      separate([body.children[2]])
      head(node, *rest)
    end

    def separate(nodes)
      nodes.each { |node| statements(node) }
      []
    end

    def head(node, *parts) = [node.first_lineno] | parts.select { |part| node?(part) }.flat_map { |part| lines(part) }

    # All of it, but of each part only what is executed with it.
    def expression(node)
      parts = node.children.flatten.select { |child| node?(child) }
      own = range(node) - parts.flat_map { |part| range(part) }
      own | parts.flat_map { |part| lines(part) }
    end

    def range(node) = (node.first_lineno..node.last_lineno).to_a

    def node?(node) = node.is_a?(RubyVM::AbstractSyntaxTree::Node)

    # Lines of texts that are written below the line on which they begin, with that line.
    def heredocs(source)
      require "ripper"
      begun = []
      Ripper.lex(source).each_with_object({}) do |((line, _), token, _), lines|
        case token
        when :on_heredoc_beg then begun << line
        when :on_heredoc_end
          opener = begun.shift
          (opener + 1..line).each { |at| lines[at] ||= opener }
        end
      end
    end
  end
end
