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

    class << self
      def load
        hooks = ActiveSupport.instance_variable_get(:@load_hooks)
        return unless hooks.is_a?(Hash) # It is no promise of Rails'.

        @waiting = hooks.flat_map { |name, blocks| own(blocks).map { |block, options| [name, block, options] } }
        hooks.each_value { |blocks| blocks.replace(blocks - own(blocks)) }
        @loaded = libraries.select { |library| attempt { library.eager_load! || true } }
        BASES.each { |name| attempt { base(name) } }
      end

      # What need not be loaded again, of `config.eager_load_namespaces`: TZInfo would read all of its zones once more.
      def loaded = @loaded || []

      def catch_up
        waiting = @waiting || []
        @waiting = nil
        waiting.each { |name, block, options| ActiveSupport.on_load(name, options, &block) }
      end

      private

      def own(blocks)
        blocks.select do |block, _options|
          file, = block.source_location
          file && Boot.near?(file) && !Boot.installed?(file)
        end
      end

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
