# frozen_string_literal: true

module Coatepec
  module Reading
    # The test databases as they are now: nothing is believed that was remembered of them, and none is made.
    module Database
      # A file of SQLite comes into being by being opened, and so does its directory. Looking must not do that.
      module Existing
        private

        def new_connection(...)
          return super unless Database.no_file?(db_config)

          raise ::ActiveRecord::NoDatabaseError, "there is no file #{db_config.database}"
        end
      end

      class << self
        # To be called before each question. A connection that is still there may be lost.
        def fresh
          # Before it is noted which models derive their key.
          Unloaded.files
          Fork.disconnect
          pools.each { |pool| forget(pool) }
          forget_models
          restore_memory
        end

        # By the name of its configuration; the first one is `primary`. Replicas are the same database.
        def all = pools.uniq { |pool| pool.db_config.name }

        # @yieldparam [ActiveRecord::ConnectionAdapters::AbstractAdapter]
        def with(owner, &)
          Plain.responds?(owner, :with_connection) ? owner.with_connection(&) : yield(owner.connection)
        end

        def name_of(model) = model.connection_pool.db_config.name

        def no_file?(config)
          return false unless config.adapter.to_s.include?("sqlite")

          path = config.database.to_s
          !in_memory?(config) && !path.start_with?("file:") && !File.exist?(File.expand_path(path, Rails.root))
        end

        private

        def pools
          handler = ::ActiveRecord::Base.connection_handler
          handler.connection_pool_list(:all).sort_by { |pool| pool.db_config.name == "primary" ? 0 : 1 }
        end

        def forget(pool)
          pool.extend(Existing) unless pool.is_a?(Existing)
          cache = pool.respond_to?(:schema_reflection) ? pool.schema_reflection : pool.schema_cache
          cache&.clear!
        rescue StandardError
          nil
        end

        # What each class found in its table, and its key unless the class names it itself.
        def forget_models
          derived.each { |model| Plain.instance_variable_set(model, :@primary_key, not_set) }
          Names.children(::ActiveRecord::Base).each { |model| forget_model(model) }
        end

        # With all below it; if one of those keeps it from that, each by itself.
        def forget_model(model)
          model.reset_column_information
        rescue Trouble
          Names.children(model).each { |child| forget_model(child) }
        end

        # Known before anybody has asked a class for its key.
        def derived
          @derived ||= Names.descendants(::ActiveRecord::Base).select do |model|
            not_set && Plain.same?(Plain.instance_variable_get(model, :@primary_key), not_set)
          end
        end

        def not_set
          keys = ::ActiveRecord::AttributeMethods::PrimaryKey::ClassMethods
          keys.const_get(:PRIMARY_KEY_NOT_SET) if keys.const_defined?(:PRIMARY_KEY_NOT_SET)
        end

        # What is in memory was lost with the last connection.
        def restore_memory
          primary = all.first
          return unless primary && in_memory?(primary.db_config)

          Coatepec.load_part("memory_database") unless Coatepec.const_defined?(:MemoryDatabase)
          MemoryDatabase.restore
        end

        def in_memory?(config) = config.database.to_s.match?(/:memory:|mode=memory/)
      end
    end
  end
end
