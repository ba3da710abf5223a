# frozen_string_literal: true

module Coatepec
  # Loads what Rails' own libraries keep for later, before any class of the app is loaded: so each fork has it, and need
  # not load it again. What the app wants to be done when one of them is loaded (`ActiveSupport.on_load`) may ask for
  # its classes: that waits until they can be found.
  module Ahead
    # What their libraries do not load by themselves, and any class of the app does.
    BASES = %w[
      ActiveRecord::Base ActionController::Base ActionController::API ActionMailer::Base ActiveJob::Base
      ActionCable::Channel::Base ActionCable::Connection::Base ActionView::Base
    ].freeze

    # In front of ActiveSupport: whoever registers, and in which order, is as it is.
    module Later
      private

      def execute_hook(name, base, options, block)
        Ahead.own?(block) ? Ahead.wait { super } : super
      end
    end

    class << self
      def load
        @waiting = []
        ActiveSupport.singleton_class.prepend(Later)
        @loaded = libraries.select { |library| attempt { library.eager_load! || true } }
        BASES.each { |name| attempt { base(name) } }
      end

      # What need not be loaded again, of `config.eager_load_namespaces`: TZInfo would read all of its zones once more.
      def loaded = @loaded || []

      def catch_up
        waiting = @waiting
        @waiting = nil
        waiting.each(&:call)
      end

      def own?(block)
        file, = block.source_location
        file ? Boot.near?(file) && !Boot.installed?(file) : false
      end

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

      # Of what the app has chosen of Rails.
      def base(name)
        base = Object.const_get(name) if Object.const_defined?(name[/\A\w+/])
        base.connection_db_config.adapter_class if base.respond_to?(:connection_db_config)
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
