# frozen_string_literal: true

module Coatepec
  module Reading
    # Every route of the app as data; those of mounted engines once for each place where they are mounted. What routes
    # lead to (apps, blocks, constraints) is never asked for anything: it may be somebody else's, and answer oddly.
    module RouteTable
      # `to` is what a route leads to that is no action. `constraints` and `defaults` are nil when there are none.
      Entry = Struct.new(:name, :verb, :path, :controller, :action, :engine, :to, :constraints, :defaults, :at,
                         keyword_init: true) do
        def endpoint = controller && "#{controller}##{action}"

        # An empty verb stands for all of them.
        def accepts?(verb) = self.verb.empty? || self.verb.split("|").include?(verb)
      end

      # A set of routes: below which path, of which engine, and which engines it is in.
      Level = Struct.new(:routes, :prefix, :engine, :within)

      class << self
        # The app's own come first. Rails' own stand by themselves. Looked at once by each reader: routes that change
        # make a new one.
        # @return [Array(Array<Entry>, Array<Entry>)]
        def all = @all ||= look

        # For whoever draws routes himself.
        def forget = @all = nil

        private

        def look
          load_lazy
          levels = [Level.new(routes_of(Rails.application), "", nil, [Rails.application.class])]
          found = []
          internal = []
          while (level = levels.shift)
            hidden, shown = level.routes.partition(&:internal)
            internal.concat(hidden.map { |route| entry(route, level) })
            shown.each do |route|
              found << entry(route, level)
              levels.concat(below(route, level))
            end
          end
          [found, internal]
        end

        # From Rails 8 on, routes may wait for the first request.
        def load_lazy
          app = Rails.application
          app.reload_routes_unless_loaded if app.respond_to?(:reload_routes_unless_loaded)
        end

        def routes_of(owner)
          set = owner.routes
          set.is_a?(::ActionDispatch::Routing::RouteSet) ? set.routes.to_a : []
        rescue StandardError
          []
        end

        def entry(route, level)
          target, conditions = unwrap(route.app)
          controller, action = endpoint(route, target)
          Entry.new(
            name: route.name && Text.text(route.name.to_s), verb: route.verb.to_s, engine: level.engine,
            path: readable(join(level.prefix, route.path.spec.to_s)), controller: controller, action: action,
            to: controller ? nil : Target.text(target), constraints: constraints(route, conditions),
            defaults: defaults(route), at: place(route)
          )
        end

        # What is behind `constraints`, and those of them that are objects or blocks.
        def unwrap(app)
          case app
          when ::ActionDispatch::Routing::Mapper::Constraints then [app.app, app.constraints]
          else [app, []]
          end
        end

        def endpoint(route, target)
          case target
          when ::ActionDispatch::Routing::RouteSet::StaticDispatcher
            [Target.path_of(target.instance_variable_get(:@controller_class)), part(route, :action)]
          when ::ActionDispatch::Routing::RouteSet::Dispatcher
            [part(route, :controller), part(route, :action)]
          end
        end

        # As a route names it, or the placeholder in its path.
        def part(route, name)
          return ":#{name}" if route.parts.include?(name)

          route.defaults[name]&.then { |value| Text.text(value.to_s) }
        end

        def below(route, level)
          engine, = unwrap(route.app)
          return [] unless Target.engine?(engine) && level.within.none? { |one| Plain.same?(one, engine) }

          prefix = join(level.prefix, route.path.spec.to_s)
          [Level.new(routes_of(engine), prefix, Text.class_name(engine), level.within + [engine])]
        end

        def join(prefix, path)
          path = path.delete_suffix("(.:format)")
          return path if prefix.empty? || prefix == "/"

          path == "/" || path.empty? ? prefix : "#{prefix}#{path}"
        end

        # Rails keeps paths as requests write them; what is no ASCII is shown as people write it.
        def readable(path)
          shown = path.gsub(/(?:%[89A-Fa-f]\h)+/) do |bytes|
            text = [bytes.delete("%")].pack("H*").force_encoding(Encoding::UTF_8)
            text.valid_encoding? ? text : bytes
          end
          Text.text(shown)
        end

        # Of the path, of the request, and those that are code.
        def constraints(route, conditions)
          found = route.path.requirements.reject { |_name, pattern| pattern == GLOB }
          found = found.merge(route.constraints.except(:request_method))
          told = Text.options(found)
          told["matches"] = conditions.first(Text::ITEMS).map { |one| Text.callable(one) } unless conditions.empty?
          told unless told.empty?
        end

        # The pattern of a `*glob`.
        GLOB = /.+?/m
        private_constant :GLOB

        # Rails takes a constraint such as `subdomain: "admin"` for a default, too.
        def defaults(route)
          found = route.defaults.reject do |name, value|
            %i[controller action].include?(name) || route.constraints[name].equal?(value)
          end
          Text.options(found) unless found.empty?
        end

        # Rails older than 7.1 doesn't know it.
        def place(route)
          file, line = route.source_location&.match(/\A(.*):(\d+)\z/m)&.captures if route.respond_to?(:source_location)
          file && Place.at(file, line.to_i)
        end
      end

      # What a route leads to that is no action.
      module Target
        class << self
          def text(target)
            case target
            when ::ActionDispatch::Routing::Redirect then redirect(target)
            when Proc then Text.callable(target).sub(/\Ablock/, "proc")
            else Text.callable(target)
            end
          end

          def engine?(target)
            case target
            when Class then Plain.within?(target, ::Rails::Engine)
            end
          end

          # The name by which routes know a controller: `Admin::WidgetsController` is `admin/widgets`.
          def path_of(klass) = path_of_name(Text.class_name(klass))

          def path_of_name(name) = name.underscore.delete_suffix("_controller")

          private

          def redirect(target)
            case target
            when ::ActionDispatch::Routing::PathRedirect then "redirect(#{target.status}, #{Text.text(target.block)})"
            when ::ActionDispatch::Routing::OptionRedirect
              options = Text.options(target.options).map { |key, value| "#{key}: #{value}" }
              "redirect(#{[target.status, *options].join(", ")})"
            else "redirect(#{target.status}, #{Text.callable(target.block)})"
            end
          end
        end
      end
    end
  end
end
