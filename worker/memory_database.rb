# frozen_string_literal: true

module Coatepec
  # A SQLite database in memory belongs to one connection, and no connection survives a fork: the child makes its tables
  # again from the schema file. Rows that the test helper wrote are not there; they never would be in another process.
  module MemoryDatabase
    class << self
      def restore
        return unless defined?(::ActiveRecord::Base)

        primary = ::ActiveRecord::Base.configurations.configs_for(env_name: "test").first
        return unless primary && in_memory?(primary)

        schema = ::ActiveRecord::Tasks::DatabaseTasks.schema_dump_path(primary)
        quietly { load(schema) } if schema&.end_with?(".rb") && File.file?(schema)
      end

      private

      def in_memory?(config) = config.adapter.match?(/sqlite/) && config.database.to_s.include?(":memory:")

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
