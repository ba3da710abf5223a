# frozen_string_literal: true

%w[callbacks].each do |name|
  Coatepec.load_part("reading/#{name}") unless Coatepec::Reading.const_defined?(name.capitalize, false)
end

module Coatepec
  module Reading
    # One controller: what it can do, what leads to it, and what runs around it.
    class Controller
      include Attempts

      # Of each list.
      ITEMS = 200
      FACTS = %i[controller_path superclass at actions unroutable_actions routes_without_action callbacks concerns
                 rescue_from layout formats].freeze

      class << self
        def call(arguments) = new(resolve(arguments[:name])).to_h

        # The classes that a name may stand for: Rails' own base classes are none.
        def all
          return [] unless defined?(::ActionController::Metal)

          Names.all(::ActionController::Metal).reject { |klass| base?(klass) }
        end

        def base?(klass) = bases.any? { |base| base.equal?(klass) }

        def bases = [::ActionController::Base, (::ActionController::API if defined?(::ActionController::API))].compact

        # By what a class says of itself, or else by its name.
        def path_of(klass)
          Text.text(klass.controller_path)
        rescue Trouble
          RouteTable::Target.path_of(klass)
        end

        def leads_to?(route, path) = [":controller", path].include?(route.controller)

        private

        # Both as a class and as routes name it.
        def resolve(name)
          unless defined?(::ActionController::Metal)
            raise Refused.new("controller_not_found", "the app does not load Action Controller")
          end

          name = "#{name.delete_suffix("_controller")}_controller".camelize if name.match?(/\A[a-z]/)
          found = Names.find(name, ::ActionController::Metal)
          return found if found && !base?(found)

          Names.refuse("controller_not_found", "controller", name, all)
        end
      end

      def initialize(klass)
        @klass = klass
      end

      def to_h
        facts = FACTS.to_h { |name| [name, attempt(name) { send(name) }] }
        within({ name: Text.class_name(klass), **facts, errors: errors }.compact)
      end

      private

      attr_reader :klass

      # What is cut off a list is counted beside it.
      def within(told)
        long = told.select { |_name, list| list.is_a?(Array) && list.size > ITEMS }
        { **told, **long.transform_values { |list| list.first(ITEMS) },
          **long.to_h { |name, list| [:"#{name}_count", list.size] } }
      end

      def controller_path = Text.text(klass.controller_path)

      def superclass = Text.class_name(Plain.superclass(klass))

      def at = Place.of_module(klass)

      def actions = doings.actions

      def unroutable_actions = doings.unroutable

      def routes_without_action = doings.missing

      def doings = @doings ||= Actions.new(klass, routes)

      def routes
        path = Controller.path_of(klass)
        RouteTable.all.first.select { |route| Controller.leads_to?(route, path) }
      end

      def callbacks = Around.callbacks(klass)

      def concerns = Around.concerns(klass)

      def rescue_from = Around.rescues(klass)

      def layout = Around.layout(klass)

      def formats = Around.formats(klass)

      # Methods and templates that answer requests, held against the routes that lead to them.
      class Actions
        def initialize(klass, routes)
          @klass = klass
          @routes = routes.group_by(&:action)
        end

        # Rails renders a template that a route names even if there is no method.
        def actions
          implicit = (known_templates.keys & @routes.keys) - methods
          (methods + implicit).map { |name| action(name) }
        end

        # Each action that a route asks for and that is not there.
        def missing
          return [] if anything_is_one?

          names = @routes.keys.compact - methods - templates.keys - [":action"]
          names.sort.map { |name| missing_action(name) }
        end

        # Each action that no route leads to, unless there is a route that takes whatever name comes.
        def unroutable = @routes.key?(":action") ? [] : methods - @routes.keys

        private

        def anything_is_one?
          name = :action_missing
          Plain.method_defined?(@klass, name) || Plain.private_method_defined?(@klass, name)
        end

        def methods = @methods ||= @klass.action_methods.map { |name| Text.text(name.to_s) }.sort

        def templates = @templates ||= Templates.of(@klass)

        # What routes lead to in vain can't be told without; the rest can.
        def known_templates
          templates
        rescue Trouble
          {}
        end

        def missing_action(name)
          { action: name, routes: told(name), routes_count: many(name), at: @routes[name].first.at }.compact
        end

        # How many routes lead there, if not all of them are told.
        def many(name) = (size = @routes.fetch(name, []).size) > ITEMS ? size : nil

        def action(name)
          place = Place.of_method(@klass, name)
          { name: name, at: place, templates: known_templates[name], routes: told(name), routes_count: many(name) }
            .compact
        end

        def told(name)
          routes = @routes.fetch(name, [])
          routes.first(ITEMS).map do |route|
            { verb: route.verb, path: route.path, route_name: route.name, engine: route.engine }.compact
          end
        end
      end

      # The app's templates of a controller, by the name of the action.
      module Templates
        class << self
          def of(klass)
            return {} unless Plain.responds?(klass, :_prefixes) && Plain.responds?(klass, :view_paths)

            files = klass._prefixes.product(directories(klass)).flat_map { |prefix, dir| within(dir, prefix) }
            files.group_by { |file| Text.text(File.basename(file)[/\A[^.]+/]) }
                 .transform_values { |same| same.map { |file| place(file) } }
          end

          # The one that is taken when none is declared.
          def layout(klass)
            return unless Plain.responds?(klass, :view_paths)

            places = klass._prefixes.product(directories(klass))
            places.find { |prefix, dir| Dir.glob(File.join("layouts", "#{prefix}.*"), base: dir).any? }&.first
          end

          private

          def directories(klass)
            dirs = klass.view_paths.filter_map { |resolver| resolver.path.to_s if resolver.respond_to?(:path) }
            dirs.select { |dir| "#{dir}/".start_with?(Coatepec.root) && !Boot.installed?(dir) }
          end

          def within(dir, prefix)
            Dir.glob(File.join(prefix, "[^_]*.*"), base: dir).map { |file| File.join(dir, file) }
          end

          def place(file) = Text.text(file.delete_prefix(Coatepec.root))
        end
      end

      # What runs before, after and around the actions, and what they are shown in.
      module Around
        # What it adds to a class by itself.
        RAILS = ["gem actionpack", "gem actionview", "gem activesupport"].freeze

        class << self
          # The app's own first, each part in the order in which they are called.
          def callbacks(klass)
            return [] unless Plain.responds?(klass, :_process_action_callbacks)

            told = klass._process_action_callbacks.map { |callback| callback(klass, callback) }
            told.partition { |one| !Place.of_gem?(one[:at]) }.flatten
          end

          # What the app includes, and not what Rails itself is made of.
          def concerns(klass)
            frameworks = [::ActionController::Metal, *Controller.bases]
            lineage = Plain.ancestors(klass)
            mine = lineage.take_while { |mod| frameworks.none? { |one| one.equal?(mod) } }
            told = mine.grep_v(Class).filter_map do |mod|
              { name: Plain.name(mod), at: Place.of_module(mod) }.compact if Plain.name(mod)
            end
            told.reject! { |one| RAILS.include?(one[:at]) }
            told.partition { |one| Place.own?(one[:at]) }.flatten
          end

          # The handler that is looked at first comes first.
          def rescues(klass)
            return [] unless Plain.responds?(klass, :rescue_handlers)

            klass.rescue_handlers.reverse.map do |error, handler|
              { error: Text.text(error.to_s), with: Text.handler(handler), at: Place.of_handler(klass, handler) }
                .compact
            end
          end

          def layout(klass)
            return unless Plain.responds?(klass, :_layout) && Plain.responds?(klass, :_layout_conditions)

            name = layout_name(klass)
            name && { name: name, **Text.options(klass._layout_conditions) }
          end

          # Declared for the whole controller, as the gem "responders" has it.
          def formats(klass)
            return unless Plain.responds?(klass, :mimes_for_respond_to)

            klass.mimes_for_respond_to.keys.map { |name| Text.text(name.to_s) }
          end

          private

          def callback(klass, callback)
            { kind: callback.kind.to_s, filter: Text.handler(callback.filter), **Conditions.new(callback).to_h,
              at: Place.of_handler(klass, callback.filter) }.compact
          end

          def layout_name(klass)
            case (layout = klass._layout)
            when nil, true then Templates.layout(klass)
            when false then "none"
            when Symbol then "method #{layout}"
            else Text.callable(layout)
            end
          end
        end
      end
    end
  end
end
