# frozen_string_literal: true

module Coatepec
  # Loads what the libraries of Rails keep for later, before any class of the app is loaded: so each fork has it, and
  # need not load it again. Not what tells the app of itself when it is loaded (`ActiveSupport.on_load`), as bases of
  # the app's classes do: what is done then may ask for those classes, and is done when and if a fresh process does it.
  module Ahead
    # Nothing of a test, and nothing that only a task needs.
    LATER = /Test|Fixture|Railtie|Tasks?\z|Generator/
    # What runs hooks, and what descends from one of these.
    HOOKS = /run_load_hooks|< [\w:]*Base\b/

    # In front of ActiveSupport, should one of them be loaded all the same.
    module Later
      private

      def execute_hook(*) = Ahead.wait { super }
    end

    class << self
      def load
        @waiting = []
        ActiveSupport.singleton_class.prepend(Later)
        kept, others = libraries.partition { |library| library.singleton_class.include?(ActiveSupport::Autoload) }
        kept.each { |library| load_kept(library) }
        @loaded = others.select { |library| attempt { library.eager_load! || true } }
        @late = @waiting
        @waiting = nil
      end

      # What need not be loaded again, of `config.eager_load_namespaces`: TZInfo would read all of its zones once more.
      def loaded = @loaded || []

      # Once the app's classes can be found.
      def catch_up = @late.each(&:call)

      def wait(&block)
        @waiting ? @waiting << block : yield
      end

      private

      # Engines have classes that are found as the app's are.
      def libraries
        Rails.application.config.eager_load_namespaces.select { |one| one.instance_of?(Module) && installed?(one) }
      end

      def installed?(library)
        file, = Object.const_source_location(Plain.name(library))
        file ? Boot.installed?(file) : false
      end

      def load_kept(library)
        library.constants(false).each do |name|
          path = library.autoload?(name, false)
          next if path && !harmless?(name, path)

          value = attempt { library.const_get(name, false) } if path
          load_kept(value) if value.instance_of?(Module) && value.singleton_class.include?(ActiveSupport::Autoload)
        end
      end

      def harmless?(name, path)
        _, file = $LOAD_PATH.resolve_feature_path(path)
        file ? !LATER.match?(name) && !Compiled::READ.call(file).match?(HOOKS) : false
      rescue SystemCallError, LoadError
        false
      end

      # Who needs what can't be loaded will meet the error, and it is told then.
      def attempt
        yield
      rescue SignalException
        raise
      rescue Exception # rubocop:disable Lint/RescueException -- a library may end the process, or lack another one
        nil
      end
    end
  end
end
