# frozen_string_literal: true

module Coatepec
  # Who, outside of the code that Rails loads again, still holds a class from before a reload: there are two of it then,
  # and the old one is in use ("X expected, got X"). Looks where an app keeps things: settings, global variables, and
  # what the modules and constants of its other files hold. What gems keep, they exchange themselves at a reload.
  module Held
    # How far into collections and objects.
    DEPTH = 4
    ENTRIES = 1000

    # Of Ruby; to read some of them is to be warned.
    GLOBALS = global_variables.freeze

    class << self
      # The names of all that a reload will replace.
      def names
        Rails.autoloaders.main.unloadable_cpaths.to_h { |name| [name, true] }
      rescue NoMethodError # Zeitwerk has it, and does not promise it.
        {}
      end

      # The first place that holds one of these of old, as a person would write it: `Registry@models`.
      def by(names)
        @names = names
        @seen = {}.compare_by_identity
        in_settings || in_globals || in_constants(Object, "")
      rescue StandardError
        nil
      end

      private

      def in_settings
        settings = Rails.configuration.x.instance_variable_get(:@configurations).to_h
        name, = settings.find { |_name, value| holds?(value, DEPTH) }
        name && "config.x.#{name}"
      end

      def in_globals
        (global_variables - GLOBALS).find { |name| holds?(eval(name.to_s), DEPTH) } # rubocop:disable Security/Eval
      end

      # Own files only, and nothing is loaded by looking.
      def in_constants(container, prefix)
        Plain.constants(container, false).each do |name|
          path = "#{prefix}#{name}"
          next if @names[path] || Plain.autoload?(container, name, false) || !ours?(container, name)

          place = in_constant(path, Plain.const_get(container, name, false))
          return place if place
        end
        nil
      end

      def in_constant(path, value)
        return path if holds?(value, DEPTH)

        case value
        when Module then in_module(path, value) if first_time?(value)
        end
      end

      def in_module(path, mod)
        name = Plain.instance_variables(mod).find do |variable|
          holds?(Plain.instance_variable_get(mod, variable), DEPTH)
        end
        name ||= Plain.class_variables(mod, false).find do |variable|
          holds?(Plain.class_variable_get(mod, variable), DEPTH)
        end
        name ? "#{path}#{name}" : in_constants(mod, "#{path}::")
      end

      def ours?(container, name)
        file, = Plain.const_source_location(container, name, false)
        file ? Boot.outside_gems([file]).any? : false
      end

      def holds?(value, depth)
        case value
        when Module then old?(value)
        when nil, true, false, Numeric, String, Symbol, Proc then false
        else depth.positive? && first_time?(value) && (old?(Plain.class(value)) || any_inside?(value, depth - 1))
        end
      rescue StandardError # BasicObject, proxies: not what a registry is made of.
        false
      end

      def any_inside?(value, depth)
        case value
        when Hash then value.first(ENTRIES).any? { |pair| pair.any? { |part| holds?(part, depth) } }
        when Array, Set, Struct then value.first(ENTRIES).any? { |part| holds?(part, depth) }
        else ours_class?(Plain.class(value)) && Plain.instance_variables(value).any? do |name|
          holds?(Plain.instance_variable_get(value, name), depth)
        end
        end
      end

      # Objects of gems have their own reasons.
      def ours_class?(klass)
        name = Plain.name(klass)
        file, = name && Object.const_source_location(name)
        file ? Boot.outside_gems([file]).any? : false
      end

      def old?(mod)
        name = Plain.name(mod)
        name ? replaced?(name) && !current?(name, mod) : false
      end

      def replaced?(name) = @names[name] || (name.include?("::") && replaced?(name[/\A(.+)::/, 1]))

      def current?(name, mod)
        Plain.same?(Object.const_get(name), mod)
      rescue NameError
        false
      end

      def first_time?(object) = @seen.key?(object) ? false : @seen[object] = true
    end
  end
end
