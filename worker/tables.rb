# frozen_string_literal: true

module Coatepec
  # Which tables the databases have, as a sign: another process may alter them while the classes that asked stay.
  module Tables
    # A number that changes with each change of the tables, where a database keeps one, and what the tables are.
    SQLITE = ["PRAGMA schema_version", "SELECT name, sql FROM sqlite_master ORDER BY name, type"].freeze

    Sign = Struct.new(:version, :content)

    class << self
      # Of the databases that were asked: nobody has seen the tables of the others.
      def remember
        # By name: a fork has other pools.
        asked = pools.select { |pool| asked?(pool) }
        @signs = asked.to_h { |pool| [pool.db_config.name, sign(pool)] }.compact.merge(@kept || {})
      end

      # What asked before any class was loaded will not ask again.
      def keep_what_the_boot_saw
        remember_what_classes_saw
        @kept = @signs
      end

      def seen? = pools.any? { |pool| asked?(pool) }

      # As code does that looks at its columns while it is loaded.
      def remember_what_classes_saw
        @signs = {}
        remember if seen?
      rescue StandardError
        nil
      end

      def outdated? = pools.any? { |pool| (sign = @signs[pool.db_config.name]) && other?(pool, sign) }

      def forget
        caches = pools.map { |pool| pool.respond_to?(:schema_reflection) ? pool.schema_reflection : pool.schema_cache }
        caches.compact.each(&:clear!)
        models.each(&:reset_column_information)
      rescue StandardError
        nil
      end

      private

      def pools
        return [] unless Databases.used?

        role = ::ActiveRecord::Base.current_role
        ::ActiveRecord::Base.connection_handler.connection_pool_list(role)
                            .reject { |pool| pool.db_config.database.to_s.match?(/:memory:|mode=memory/) }
      end

      def models = Databases.used? ? ::ActiveRecord::Base.descendants.reject(&:abstract_class?) : []

      def asked?(pool) = pool.connections.any?

      def sign(pool)
        version, content = questions(pool)
        ask(pool) { |connection| Sign.new(rows(connection, version), rows(connection, content).hash) }
      end

      # The content is long, and seldom needed.
      def other?(pool, sign)
        version, content = questions(pool)
        ask(pool) do |connection|
          rows(connection, version) != sign.version && rows(connection, content).hash != sign.content
        end
      end

      def questions(pool)
        return SQLITE if pool.db_config.adapter.match?(/sqlite/)

        table = ::ActiveRecord::Base.schema_migrations_table_name
        ["SELECT COUNT(*), MAX(version) FROM #{table}"] * 2
      end

      # Under this name nobody counts it as a query of the app.
      def rows(connection, question) = connection.select_rows(question, "SCHEMA")

      def ask(pool, &)
        pool.with_connection(&)
      rescue StandardError
        nil # No database, no table: the spec that needs it will say so.
      end
    end
  end
end
