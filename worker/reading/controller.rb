# frozen_string_literal: true

module Coatepec
  module Reading
    # One controller: what it can do, what leads to it, and what runs around it.
    module Controller
      # Of each list.
      ITEMS = 200

      class << self
        def call(arguments)
          klass = resolve(arguments[:name])
          routes = RouteTable.all.first.select { |route| leads_to?(route, klass) }
          within(about(klass).merge(Actions.new(klass, routes).to_h, Around.of(klass)))
        end

        # The classes that a name may stand for: Rails' own base classes are none.
        def all
          return [] unless defined?(::ActionController::Metal)

          Names.all(::ActionController::Metal).reject { |klass| base?(klass) }
        end

        def base?(klass) = bases.any? { |base| base.equal?(klass) }

        def bases = [::ActionController::Base, (::ActionController::API if defined?(::ActionController::API))].compact

        private

        # What is cut off a list is counted beside it.
        def within(told)
          long = told.select { |_name, list| list.is_a?(Array) && list.size > ITEMS }
          { **told, **long.transform_values { |list| list.first(ITEMS) },
            **long.to_h { |name, list| [:"#{name}_count", list.size] } }
        end

        # Both as a class and as routes name it.
        def resolve(name)
          unless defined?(::ActionController::Metal)
            raise Refused.new("controller_not_found", "the app does not load Action Controller")
          end

          name = "#{name}_controller".camelize if name.match?(/\A[a-z]/)
          found = Names.find(name, ::ActionController::Metal)
          return found if found && !base?(found)

          Names.refuse("controller_not_found", "controller", name, ::ActionController::Metal)
        end

        def leads_to?(route, klass) = [":controller", klass.controller_path].include?(route.controller)

        def about(klass)
          { name: Text.class_name(klass), controller_path: Text.text(klass.controller_path),
            superclass: Text.class_name(klass.superclass), at: Place.of_module(klass) }.compact
        end
      end

      # Methods and templates that answer requests, held against the routes that lead to them.
      class Actions
        def initialize(klass, routes)
          @klass = klass
          @routes = routes.group_by(&:action)
          @methods = klass.action_methods.map { |name| Text.text(name.to_s) }.sort
          @templates = Templates.of(klass)
        end

        def to_h
          { actions: actions, unroutable_actions: unroutable, routes_without_action: missing }
        end

        # Each action that a route asks for and that is not there.
        def missing
          return [] if @klass.method_defined?(:action_missing) || @klass.private_method_defined?(:action_missing)

          names = @routes.keys.compact - @methods - @templates.keys - [":action"]
          names.sort.map { |name| missing_action(name) }
        end

        # Each action that no route leads to, unless there is a route that takes whatever name comes.
        def unroutable = @routes.key?(":action") ? [] : @methods - @routes.keys

        private

        def missing_action(name)
          { action: name, routes: told(name), routes_count: many(name), at: @routes[name].first.at }.compact
        end

        # How many routes lead there, if not all of them are told.
        def many(name) = (size = @routes.fetch(name, []).size) > ITEMS ? size : nil

        # Rails renders a template that a route names even if there is no method.
        def actions
          implicit = (@templates.keys & @routes.keys) - @methods
          (@methods + implicit).map { |name| action(name) }
        end

        def action(name)
          place = Place.of_method(@klass, name)
          { name: name, at: place, templates: @templates[name], routes: told(name), routes_count: many(name) }.compact
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
            return {} unless klass.respond_to?(:_prefixes) && klass.respond_to?(:view_paths)

            files = klass._prefixes.product(directories(klass)).flat_map { |prefix, dir| within(dir, prefix) }
            files.group_by { |file| Text.text(File.basename(file)[/\A[^.]+/]) }
                 .transform_values { |same| same.map { |file| place(file) } }
          end

          # The one that is taken when none is declared.

          def layout(klass)
            return unless klass.respond_to?(:view_paths)

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
          def of(klass)
            { callbacks: callbacks(klass), concerns: concerns(klass), rescue_from: rescues(klass),
              layout: layout(klass), formats: formats(klass) }.compact
          end

          # The app's own first, each part in the order in which they are called.
          def callbacks(klass)
            return [] unless klass.respond_to?(:_process_action_callbacks)

            told = klass._process_action_callbacks.map { |callback| callback(klass, callback) }
            told.partition { |one| Place.own?(one[:at]) }.flatten
          end

          private

          def callback(klass, callback)
            conditions = Conditions.new(callback)
            { kind: callback.kind.to_s, filter: name(callback.filter), **conditions.to_h,
              at: place(klass, callback.filter) }.compact
          end

          def name(filter) = filter.is_a?(Proc) ? "block" : Text.callable(filter)

          def place(klass, handler)
            case handler
            when Symbol then Place.of_method(klass, handler)
            when Proc, Method, UnboundMethod then Place.of(handler)
            when Module then Place.of_module(handler)
            else Place.of_module(Text::CLASS.bind_call(handler))
            end
          end

          # What the app includes, and not what Rails itself is made of.
          def concerns(klass)
            frameworks = [::ActionController::Metal, *Controller.bases]
            mine = klass.ancestors.take_while { |mod| frameworks.none? { |one| one.equal?(mod) } }.grep_v(Class)
            told = mine.filter_map do |mod|
              { name: Text.real_name(mod), at: Place.of_module(mod) }.compact if Text.real_name(mod)
            end
            told.reject! { |one| RAILS.include?(one[:at]) }
            told.partition { |one| Place.own?(one[:at]) }.flatten
          end

          # The handler that is looked at first comes first.
          def rescues(klass)
            return [] unless klass.respond_to?(:rescue_handlers)

            klass.rescue_handlers.reverse.map do |error, handler|
              { error: Text.text(error.to_s), with: name(handler), at: place(klass, handler) }.compact
            end
          end

          def layout(klass)
            return unless klass.respond_to?(:_layout) && klass.respond_to?(:_layout_conditions)

            name = layout_name(klass)
            name && { name: name, **Text.options(klass._layout_conditions) }
          end

          def layout_name(klass)
            case (layout = klass._layout)
            when nil, true then Templates.layout(klass)
            when false then "none"
            when Symbol then "method #{layout}"
            else Text.callable(layout)
            end
          end

          # Declared for the whole controller, as the gem "responders" has it.
          def formats(klass)
            return unless klass.respond_to?(:mimes_for_respond_to)

            klass.mimes_for_respond_to.keys.map { |name| Text.text(name.to_s) }
          end
        end
      end

      # When a callback is called. Rails turns `only` and `except` into conditions; a later `skip_before_action` adds
      # more.
      class Conditions
        def initialize(callback)
          @if, @unless = %i[@if @unless].map { |list| Array(callback.instance_variable_get(list)) }
        end

        # `only: []` is a callback that is never called, no `only` one that always is.
        def to_h
          { only: actions(@if)&.inject(:&), except: actions(@unless)&.inject(:|),
            if: others(@if), unless: others(@unless) }
        end

        private

        def actions(conditions)
          filters = conditions.select { |condition| filter?(condition) }
          filters.map { |filter| filter.instance_variable_get(:@actions).to_a } unless filters.empty?
        end

        def others(conditions)
          found = conditions.reject { |condition| filter?(condition) }
          found.map { |condition| Text.callable(condition) } unless found.empty?
        end

        def filter?(condition)
          case condition
          when ::AbstractController::Callbacks::ActionFilter then true
          else false
          end
        end
      end
    end
  end
end
