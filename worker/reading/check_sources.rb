# frozen_string_literal: true

module Coatepec
  module Reading
    # Jobs and mailers that the app's code names and nobody defines: found in the text of the code, since nothing fails
    # before the line is reached.
    module CheckSources
      FILES = 5000
      BYTES = 512 * 1024

      # Spaces may stand before the dot; a new line, too.
      BLANK = %i[on_sp on_ignored_nl on_nl].freeze
      JOB_CALLS = %w[perform_later perform_now perform_async perform_in perform_at set].freeze
      WORTH_IT = /\.\s*(?:#{JOB_CALLS.join("|")})\b|Mailer\b/

      class << self
        def look(findings)
          return unless findings.wants?("job_missing", "mailer_missing")

          require "ripper"
          files.each { |file| findings.look(file) { file(findings, file) } }
        end

        private

        # Code of the app that Rails loads by its name.
        def files
          own = Rails.autoloaders.main.dirs.select { |dir| "#{dir}/".start_with?(Coatepec.root) }
          own.reject { |dir| Boot.installed?(dir) }.flat_map { |dir| Dir.glob("#{dir}/**/*.rb") }.uniq.sort.first(FILES)
        end

        def file(findings, file)
          text = File.read(file, BYTES) || ""
          return unless text.valid_encoding? && text.match?(WORTH_IT)

          source = Source.new(text)
          source.references.each do |name, line|
            code = code(name)
            next if source.known?(name)

            message = "`#{name}` is used, and there is no such #{code == "job_missing" ? "job" : "mailer"}"
            findings.add(code, name, message, Place.at(file, line))
          end
        end

        def code(name) = name.end_with?("Mailer") ? "mailer_missing" : "job_missing"
      end

      # The words of one file.
      class Source
        def initialize(text)
          @tokens = Ripper.lex(text).map { |(line, _column), kind, word| [kind, word, line] }
          @tokens.reject! { |kind, _word, _line| BLANK.include?(kind) }
        end

        # Names of jobs and mailers to which something is said, and where.
        def references
          found = []
          each_name { |name, line, rest| found << [name, line] if said?(name, rest) }
          found
        end

        # Whether it is known anywhere that this file's modules and classes can see.
        def known?(name) = ["", *prefixes].any? { |prefix| Names.known?("#{prefix}#{name}") }

        private

        def said?(name, rest)
          return false unless rest.first&.first == :on_period

          message = rest[1] && rest[1][1]
          name.end_with?("Mailer") || (name.match?(/(?:Job|Worker)\z/) && JOB_CALLS.include?(message))
        end

        # A constant with all that is before it, the line, and the two words behind it.
        def each_name
          at = 0
          while at < @tokens.size
            at += 1 and next unless @tokens[at][0] == :on_const

            parts = [@tokens[at][1]]
            line = @tokens[at][2]
            parts << @tokens[at += 2][1] while @tokens[at + 1]&.at(1) == "::" && @tokens[at + 2]&.first == :on_const
            yield parts.join("::"), line, @tokens[at + 1, 2]
            at += 1
          end
        end

        # `module A; class B` may mean A::X, B::X and A::B::X by X.
        def prefixes
          @prefixes ||= begin
            opened = @tokens.each_cons(2).filter_map { |(_, word), (kind, name)| name if opens?(word, kind) }
            (0...opened.size).flat_map { |from| (from...opened.size).map { |to| "#{opened[from..to].join("::")}::" } }
          end
        end

        def opens?(word, kind) = %w[module class].include?(word) && kind == :on_const
      end
    end
  end
end
