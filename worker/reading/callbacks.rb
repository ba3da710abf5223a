# frozen_string_literal: true

module Coatepec
  module Reading
    # Callbacks of a class, as ActiveSupport keeps them: the app's own and those of gems, without Rails' own.
    module Callbacks
      RAILS = /\Agem (?:action|active|rails)/

      class << self
        # @param chains [Array<Symbol>] `save`, `perform` …
        def of(klass, chains)
          chains.flat_map { |chain| chain(klass, chain) }
        end

        def rails?(place) = place&.match?(RAILS)

        private

        def chain(klass, name)
          found = klass.__callbacks.fetch(name, []).filter_map { |callback| describe(klass, name, callback) }
          found.uniq
        end

        def describe(klass, name, callback)
          filter = callback.filter
          place = place(klass, filter)
          return if rails?(place) || (name == :validate && !called?(filter))

          # A block's place stands beside it, once.
          shown = filter.is_a?(Proc) ? "block" : Text.callable(filter)
          { callback: called(name, callback.kind), filter: shown, **conditions(callback), at: place }.compact
        end

        # As the app calls it.
        def called(name, kind)
          case name
          when :validate then "validate"
          when :process_action then "#{kind}_action"
          else "#{kind}_#{name}"
          end
        end

        # Validators have a field of their own.
        def called?(filter) = filter.is_a?(Symbol) || filter.is_a?(Proc)

        def place(klass, filter)
          case filter
          when Symbol then Place.of_method(klass, filter)
          when Proc, Method, UnboundMethod then Place.of(filter)
          when Module then Place.of_module(filter)
          else Place.of_module(filter.class)
          end
        end

        # `on: :update` has become a condition of Rails' own, and so has `only: :show`.
        def conditions(callback)
          ifs, unlesses = %i[@if @unless].map { |name| Array(callback.instance_variable_get(name)) }
          { on: events(ifs), only: actions(ifs), except: actions(unlesses), if: own(ifs), unless: own(unlesses) }
            .reject { |_name, list| list.empty? }
        end

        def own(items)
          items.reject { |item| action_filter?(item) || of_rails?(item) }.map { |item| Text.callable(item) }
        end

        def actions(items)
          items.select { |item| action_filter?(item) }
               .flat_map { |item| item.instance_variable_get(:@actions).to_a.map(&:to_s) }.uniq
        end

        def action_filter?(item) = Text.class_name(Text::CLASS.bind_call(item)).end_with?("Callbacks::ActionFilter")

        def of_rails?(item) = item.is_a?(Proc) && rails?(Place.of(item))

        def events(conditions)
          found = conditions.select { |item| of_rails?(item) && item.binding.local_variable_defined?(:fire_on) }
          found.flat_map { |item| Array(item.binding.local_variable_get(:fire_on)) }.map(&:to_s).uniq
        end
      end
    end
  end
end
