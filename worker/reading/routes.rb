# frozen_string_literal: true

module Coatepec
  module Reading
    # Routes, filtered and paged.
    module Routes
      # In every row.
      COLUMNS = %i[name verb path controller action engine].freeze
      # A row ends with the last of them that it has.
      MORE = %i[at to constraints defaults].freeze

      class << self
        def call(arguments)
          routes, internal = RouteTable.all
          matched = routes.select { |route| match?(route, arguments) }
          kept, left = matched.partition { |route| kept?(route, arguments[:engines]) }
          page(kept, arguments).merge(left_out(left, arguments, internal))
        end

        private

        def match?(route, arguments)
          query, controller, verb = arguments.values_at(:query, :controller, :verb)
          (query.nil? || found?(route, query.downcase)) && (verb.nil? || route.accepts?(verb.upcase)) &&
            (controller.nil? || route.controller == RouteTable::Target.path_of_name(controller))
        end

        def found?(route, query)
          texts = route.to_h.values_at(*COLUMNS) << route.endpoint << route.to
          texts.any? { |text| text&.downcase&.include?(query) }
        end

        def kept?(route, engines)
          case engines
          when "include" then true
          when "only" then !route.engine.nil?
          else route.engine.nil?
          end
        end

        def page(routes, arguments)
          offset, limit = arguments.values_at(:offset, :limit)
          rows = (routes[offset, limit] || []).map { |route| row(route) }
          columns = (COLUMNS + MORE).first([COLUMNS.size, *rows.map(&:size)].max)
          result = { columns: columns, matched: routes.size, rows: rows }
          result[:next_offset] = offset + limit if offset + limit < routes.size
          result
        end

        def row(route)
          cells = route.to_h.values_at(*COLUMNS, *MORE)
          cells.pop while cells.size > COLUMNS.size && cells.last.nil?
          cells
        end

        # Nothing is withheld silently.
        def left_out(routes, arguments, internal)
          engines, app = routes.partition(&:engine)
          told = { engines: arguments[:engines], engines_excluded: engines.size }
          told[:app_excluded] = app.size unless app.empty?
          told[:internal_excluded] = internal if internal.positive?
          told
        end
      end
    end
  end
end
