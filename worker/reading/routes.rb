# frozen_string_literal: true

%w[page].each do |name|
  Coatepec.load_part("reading/#{name}") unless Coatepec::Reading.const_defined?(name.capitalize, false)
end

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
          matched, internal = [routes, internal].map { |all| all.select { |route| match?(route, arguments) } }
          kept, left = matched.partition { |route| kept?(route, arguments[:engines]) }
          told = page(kept, arguments).merge(left_out(left, arguments, internal.size))
          kept.empty? ? { **told, hint: hint(arguments, left, routes) } : told
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
          page = Page.of(:rows, routes, arguments) { |route| route.to_h.values_at(*COLUMNS) }
          rows = page[:rows].map { |route| row(route) }
          columns = (COLUMNS + MORE).first([COLUMNS.size, *rows.map(&:size)].max)
          { columns: columns, matched: page[:matched], **page, rows: rows }
        end

        def row(route)
          cells = route.to_h.values_at(*COLUMNS, *MORE)
          cells.pop while cells.size > COLUMNS.size && cells.last.nil?
          cells
        end

        # What else to ask for where nothing was found.
        def hint(arguments, left, routes)
          return "`engines: \"#{left.first.engine ? "include" : "exclude"}\"` has #{left.size} that match" if left.any?

          near = arguments[:controller] ? near(arguments[:controller], routes) : []
          return "did you mean #{near.map { |name| "`#{name}`" }.join(", ")}?" if near.any?

          "a `query` is part of a name, verb, path, action or engine, in any case, and no pattern"
        end

        def near(controller, routes)
          Names.near(RouteTable::Target.path_of_name(controller), routes.filter_map(&:controller).uniq)
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
