# frozen_string_literal: true

module Coatepec
  # Where the time of a run goes, heard from the notifications that Rails and FactoryBot send anyway. Loaded for a run
  # that asks for it only. What an app does not have is not told.
  class Profile
    TOTAL_TIME = GC.method(:total_time)
    STAT = GC.method(:stat)

    def initialize
      @sql = SqlProfile.new
      @factories = FactoryProfile.new
    end

    # Of a fresh process Rails is there once the files are loaded.
    def listen
      @begun = collector
      return unless defined?(::ActiveSupport::Notifications)

      ::ActiveSupport::Notifications.subscribe("sql.active_record", @sql)
      ::ActiveSupport::Notifications.subscribe("factory_bot.run_factory", @factories)
    end

    def begin_example = @before = figures

    # Of the example that was begun last.
    def cost
      return unless @before

      sql, factories, gc = @before.zip(figures).map { |before, after| since(before, after) }
      { sql: sql? ? sql : nil, factories: factories? ? factories : nil, gc_seconds: gc[:seconds] }
    end

    def total
      gc = since(@begun, collector) if @begun
      { sql: sql? ? @sql.total : nil, factories: factories? ? @factories.total : nil, gc: gc }
    end

    private

    def figures = [@sql.figures, @factories.figures, collector]

    def since(before, after) = after.merge(before) { |_, now, once| now - once }

    # Our own part of it is small.
    def collector
      { runs: STAT.call(:count), major: STAT.call(:major_gc_count), seconds: TOTAL_TIME.call / 1e9,
        allocated: STAT.call(:total_allocated_objects) }
    end

    def sql? = defined?(::ActiveRecord::Base)

    def factories? = defined?(::FactoryBot)
  end

  # Puts the profile into the records of a run: beside each example what it cost, and all of it before the end, also of
  # a run that is asked where it hangs.
  module Profiled
    attr_writer :profile

    def emit(event, **fields)
      return unless ours?

      case event
      when "example_started" then @profile.begin_example
      when "example_finished" then fields[:cost] = @profile.cost
      when "threads", "finished", "exit" then super("profile", **@profile.total)
      end
      super
      @profile.listen if event == "started"
    end
  end

  # How long what is going on takes: it may hold others of its kind, and there may be several threads. By our own clock,
  # since tests stop those of Ruby. Whatever goes wrong in here is nothing that a test may notice.
  module Timed
    def start(_name, _id, payload) = stack << Timing.new(payload[:name], Coatepec.clock, 0.0)

    def finish(_name, _id, payload)
      timing = stack.pop or return

      took = Coatepec.clock - timing.since
      stack.last.within += took if stack.any?
      note(payload, took, timing)
    rescue StandardError
      nil
    end

    Timing = Struct.new(:name, :since, :within)

    private

    def stack = Thread.current[self.class.name] ||= []
  end

  # Queries of Active Record, by their text without values.
  class SqlProfile
    include Timed

    # What Rails asks for its own sake.
    OWN = %w[SCHEMA TRANSACTION].freeze
    # Different statements that are told apart, and of these told.
    STATEMENTS = 1000
    TOLD = 5

    Use = Struct.new(:times, :seconds)

    def initialize
      @count = @cached = @failed = 0
      @seconds = 0.0
      @statements = {}
      @shapes = {}
    end

    def figures = { count: @count, seconds: @seconds }

    def total
      { **figures, failed: @failed, cached: @cached, statements: @statements.size, queries: queries }
    end

    private

    def note(payload, took, _timing)
      return if OWN.include?(payload[:name])
      return @cached += 1 if payload[:cached]

      @count += 1
      @failed += 1 if payload[:exception]
      @seconds += took
      use = statement(shape(payload)) or return
      use.times += 1
      use.seconds += took
    end

    def statement(shape)
      @statements[shape] ||= Use.new(0, 0.0) if @statements.size < STATEMENTS || @statements.key?(shape)
    end

    # Most texts come again and again.
    def shape(payload)
      sql = payload[:sql].to_s
      known = @shapes[sql] and return known

      found = SqlShape.of(sql, payload[:connection])
      @shapes[sql] = found if @shapes.size < STATEMENTS && sql.bytesize < SqlShape::BYTES
      found
    end

    # Those that took longest, and those that came most often.
    def queries
      by = ->(figure) { @statements.max_by(TOLD) { |_, use| use[figure] } }
      chosen = (by.call(:seconds) + by.call(:times)).uniq(&:first).sort_by { |_, use| -use.seconds }
      chosen.map { |sql, use| { sql: sql, count: use.times, seconds: use.seconds } }
    end
  end

  # A statement without its values: what is the same but for them counts as one, and no secret is told.
  module SqlShape
    # Read of a statement, and told of it.
    BYTES = 10_000
    TOLD = 300

    COMMENT = %r{/\*.*?(?:\*/|\z)|--[^\n]*}m
    NUMBER = /\$\d+|0x\h+|\d+(?:\.\d+)?(?:e[+-]?\d+)?/i
    DOLLARS = /\$(\w*)\$.*?(?:\$\1\$|\z)/m
    ESCAPED = /'(?:[^'\\]|\\.|'')*(?:'|\z)/m
    # An unfinished one goes to the end of the text. Words come before numbers: `t1` is a name.
    STANDARD = Regexp.union(COMMENT, DOLLARS, /\be#{ESCAPED}/i, /(?:\b[xbn])?'(?:[^']|'')*(?:'|\z)/i,
                            /"(?:[^"]|"")*(?:"|\z)/, /`[^`]*`/, /[[:alpha:]_][\w$]*/, NUMBER)
    MYSQL = Regexp.union(COMMENT, /#[^\n]*/, ESCAPED, /"(?:[^"\\]|\\.|"")*(?:"|\z)/m, /`[^`]*`/,
                         /[[:alpha:]_][\w$]*/, NUMBER)

    # Names in double quotes; SQLite takes one for a text where it knows none of that name.
    NAME = /"\w+"(?!\s*\.)/
    COMPARED = /((?:[=<>]|\b(?:LIKE|GLOB|MATCH|IS|THEN|ELSE|BETWEEN(?:\s+\S+\s+AND)?)\b)\s*)#{NAME}/i
    LISTED = /\bIN\s*\([^()]*\)|\bVALUES\b.*?(?=\b(?:ON|RETURNING)\b|\z)/im
    VALUES = /\?(?:\s*,\s*(?:\?|NULL|DEFAULT|TRUE|FALSE))+/i
    ROWS = /\(\?\)(?:\s*,\s*\(\?\))+/

    class << self
      def of(sql, connection)
        text = Json.text(sql.byteslice(0, BYTES))
        text = mysql?(connection) ? mysql(text) : standard(text)
        text = text.gsub(/\s+/, " ").gsub(VALUES, "?").gsub(ROWS, "(?)").strip
        text.bytesize > TOLD ? "#{text.byteslice(0, TOLD).scrub("")}…" : text
      end

      private

      def mysql?(connection)
        connection.respond_to?(:adapter_name) && /mysql|trilogy/i.match?(connection.adapter_name)
      end

      def mysql(text)
        text.gsub(MYSQL) do |token|
          case token[0]
          when "#" then " "
          when '"' then "?"
          else plain(token)
          end
        end
      end

      def standard(text)
        text = text.gsub(STANDARD) { |token| token[0] == '"' ? quoted(token) : plain(token) }
        2.times { text = text.gsub(COMPARED, '\1?') }
        text.gsub(LISTED) { |list| list.gsub(NAME, "?") }
      end

      def quoted(token) = token.match?(/\A"\w+"\z/) ? token : "?"

      def plain(token)
        return " " if token.start_with?("--", "/*")
        return token if token.match?(/\A(?:`|[[:alpha:]_][\w$]*\z)/)

        "?"
      end
    end
  end

  # Objects that factories made, by the name of the factory. What raised made none, but took its time.
  class FactoryProfile
    include Timed

    # Factories that are told apart, and told; characters of a name.
    NAMES = 500
    NAME = 100
    TOLD = 20

    Use = Struct.new(:strategies, :seconds, :own, :raised)

    def initialize
      @count = @raised = 0
      @seconds = 0.0
      @uses = {}
    end

    def figures = { count: @count, seconds: @seconds }

    def total
      told = @uses.max_by(TOLD) { |_, use| use.own }
      { **figures, raised: @raised, names: @uses.size, by_name: told.map { |name, use| { name: name, **use.to_h } } }
    end

    private

    # What stands within another counts in its own name, and its time once.
    def note(payload, took, timing)
      raised = payload[:exception]
      raised ? @raised += 1 : @count += 1
      @seconds += took if stack.empty?
      use = use(payload[:name].to_s[0, NAME]) or return
      raised ? use.raised += 1 : use.strategies[payload[:strategy].to_s] += 1
      use.own += took - timing.within
      use.seconds += took if stack.none? { |outer| outer.name == timing.name }
    end

    def use(name)
      @uses[name] ||= Use.new(Hash.new(0), 0.0, 0.0, 0) if @uses.size < NAMES || @uses.key?(name)
    end
  end
end
