# frozen_string_literal: true

%w[database tables declared page association controller check_routes check_models check_sources].each do |name|
  constant = name.split("_").map(&:capitalize).join
  Coatepec.load_part("reading/#{name}") unless Coatepec::Reading.const_defined?(constant, false)
end

module Coatepec
  module Reading
    # Where the parts of an app don't fit each other: found by comparing what each says of itself. Nothing is run.
    module Check
      # What is wrong for certain comes first; what may be meant as it is comes last.
      CODES = %w[route_without_controller route_without_action table_missing association_class_missing
                 association_invalid association_table_missing association_column_missing enum_column_missing
                 validator_column_missing job_missing mailer_missing inverse_missing uniqueness_not_indexed
                 foreign_key_not_indexed action_without_route].freeze

      # Of what could not be looked at.
      UNCHECKED = 20

      Finding = Struct.new(:code, :subject, :message, :at, keyword_init: true)

      # What is found, and what could not be looked at.
      class Findings
        attr_reader :unchecked

        def initialize(codes)
          @codes = codes
          @found = []
          @unchecked = Unloaded.files.map { |one| { subject: one[:file], reason: one[:reason] } }
        end

        # The same thing is wrong once, whoever comes across it.
        def add(code, subject, message, place)
          @found << Finding.new(code: code, subject: subject, message: message, at: place)
        end

        # Looks at one thing; what goes wrong there keeps nobody from looking at the next.
        def look(subject)
          yield
        rescue Trouble => e
          @unchecked << { subject: subject, reason: Text.reason(e) }
        end

        def wants?(*codes) = codes.any? { |code| @codes.include?(code) }

        def sorted
          kept = @found.select { |one| @codes.include?(one.code) }.uniq { |one| [one.code, one.subject] }
          kept.sort_by { |one| [CODES.index(one.code), one.at.to_s[/\A[^:]*/], one.at.to_s[/\d+\z/].to_i, one.subject] }
        end
      end

      class << self
        def call(arguments)
          ignored = arguments[:only] ? [] : arguments[:ignore] || []
          findings = Findings.new(arguments[:only] || CODES)
          [CheckRoutes, CheckModels, CheckSources].each { |part| part.look(findings) }
          hidden, told = findings.sorted.partition { |finding| ignored.include?(finding.code) }
          { **page(told, arguments), by_code: tally(told), ignored: tally(hidden), **unchecked(findings.unchecked) }
            .reject { |name, value| %i[ignored unchecked].include?(name) && value.empty? }
        end

        # Names as they stand in a message.
        def names(list) = "`#{list.join("`, `")}`"

        private

        def page(findings, arguments)
          page = Page.of(:findings, findings, arguments) { |finding| [finding.code, finding.subject] }
          { **page, findings: page[:findings].map { |finding| finding.to_h.compact } }
        end

        def unchecked(all)
          { unchecked: all.first(UNCHECKED), unchecked_count: (all.size if all.size > UNCHECKED) }.compact
        end

        def tally(findings) = findings.map(&:code).tally
      end
    end
  end
end
