# frozen_string_literal: true

module Coatepec
  # A SQLite database in memory belongs to one connection, and no connection survives a fork: the child makes its tables
  # again from the schema file. Rows that the test helper wrote are not there; they never would be in another process.
  module MemoryDatabase
    class << self
      def restore
        return unless defined?(::ActiveRecord::Base)

        role = ::ActiveRecord::Base.current_role
        pools = ::ActiveRecord::Base.connection_handler.connection_pool_list(role)
        pools.each { |pool| fill(pool) if in_memory?(pool.db_config) }
      end

      private

      def in_memory?(config) = config.adapter.match?(/sqlite/) && config.database.to_s.match?(/:memory:|mode=memory/)

      def fill(pool)
        schema = tasks.schema_dump_path(pool.db_config)
        return unless schema && File.file?(schema)
        return quietly { through(pool) { load(schema) } } unless schema.end_with?(".sql")

        pool.with_connection { |connection| connection.raw_connection.execute_batch(File.read(schema)) }
      end

      # A schema file asks here which database it is for.
      def through(pool)
        models = [::ActiveRecord::Base, *::ActiveRecord::Base.descendants]
        owner = models.find { |model| pool.equal?(model.connection_pool) }
        tasks.define_singleton_method(:migration_class) { owner }
        yield
      ensure
        tasks.singleton_class.send(:remove_method, :migration_class)
      end

      def tasks = ::ActiveRecord::Tasks::DatabaseTasks

      def quietly
        verbose = ::ActiveRecord::Schema.verbose
        ::ActiveRecord::Schema.verbose = false
        yield
      ensure
        ::ActiveRecord::Schema.verbose = verbose
      end
    end
  end
end
