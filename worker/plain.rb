# frozen_string_literal: true

module Coatepec
  # What Ruby itself knows of an object, a class or a module, whatever the app has made of the methods that tell it: a
  # class may have a `name`, a `hash` or an `==` of its own, and may raise there.
  module Plain
    OF_MODULES = { name: Module, superclass: Class, subclasses: Class, ancestors: Module, included_modules: Module,
                   const_defined?: Module, const_get: Module, autoload?: Module,
                   instance_method: Module, instance_methods: Module, public_instance_methods: Module,
                   private_instance_methods: Module, method_defined?: Module, private_method_defined?: Module }.freeze
    OF_OBJECTS = { class: Kernel, singleton_class: Kernel, singleton_methods: Kernel, instance_variable_get: Kernel,
                   instance_variable_set: Kernel }.freeze

    class << self
      OF_MODULES.merge(OF_OBJECTS).each do |name, owner|
        unbound = owner.instance_method(name)
        define_method(name) { |object, *arguments| unbound.bind_call(object, *arguments) }
      end

      SAME = BasicObject.instance_method(:equal?)
      BELOW = Module.instance_method(:<=)
      private_constant :SAME, :BELOW

      def same?(one, other) = SAME.bind_call(one, other)

      # Whether a class is another one or descends from it.
      def within?(klass, other) = BELOW.bind_call(klass, other) ? true : false

      # Without asking it, and so without what it answers by `method_missing`.
      def responds?(object, name) = method_defined?(singleton_class(object), name)

      # What is in the one list and not in the other, each by what it is.
      def without(list, others)
        known = {}.compare_by_identity
        others.each { |other| known[other] = true }
        list.reject { |one| known.key?(one) }
      end
    end
  end
end
