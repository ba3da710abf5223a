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
          place = Place.of_handler(klass, filter)
          return if rails?(place) || (name == :validate && !called?(filter))

          { callback: called(name, callback.kind), filter: Text.handler(filter), **Conditions.new(callback).to_h,
            at: place }.compact
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
        def called?(filter)
          case filter
          when Symbol, Proc then true
          end
        end
      end
    end

    # When a callback is called. Rails turns `only`, `except` and `on` into conditions of its own; a later
    # `skip_before_action` adds more.
    class Conditions
      FILTER = "AbstractController::Callbacks::ActionFilter"
      # What comes before each `after_*` of a model: that nothing has halted.
      HALTED = "ActiveSupport::Callbacks::Conditionals::Value"
      # Where Rails keeps `on`: in a variable around the condition that it makes of it.
      EVENTS = %i[fire_on context options].freeze

      def initialize(callback)
        @if, @unless = %i[@if @unless].map { |list| Array(callback.instance_variable_get(list)) }
      end

      # `only: []` is a callback that is never called, no `only` one that always is.
      def to_h
        { on: events, only: actions(@if)&.inject(:&), except: actions(@unless)&.inject(:|), if: others(@if),
          unless: others(@unless) }
      end

      private

      def events
        made = @if.grep(Proc).select { |one| of_rails?(one) }
        told(made.flat_map { |one| kept(one.binding) }.map(&:to_s).uniq)
      end

      def kept(binding)
        values = EVENTS.select { |name| binding.local_variable_defined?(name) }
                       .map { |name| binding.local_variable_get(name) }
        values.flat_map { |value| Array(value.is_a?(Hash) ? value[:on] : value) }.grep(Symbol)
      end

      def actions(conditions)
        filters = conditions.select { |condition| filter?(condition) }
        filters.map { |filter| filter.instance_variable_get(:@actions).map(&:to_s) } unless filters.empty?
      end

      def others(conditions)
        found = conditions.reject { |condition| filter?(condition) || of_rails?(condition) }
        told(found.map { |condition| Text.callable(condition) })
      end

      def told(list) = list.empty? ? nil : list

      def filter?(condition) = class_name(condition) == FILTER

      def class_name(condition) = Plain.name(Plain.class(condition))

      def of_rails?(condition)
        case condition
        when Proc then Callbacks.rails?(Place.of(condition))
        else class_name(condition) == HALTED
        end
      end
    end
  end
end
