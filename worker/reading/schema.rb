# frozen_string_literal: true

%w[database tables page].each do |name|
  Coatepec.load_part("reading/#{name}") unless Coatepec::Reading.const_defined?(name.capitalize, false)
end

module Coatepec
  module Reading
    # Tables, columns, indexes, foreign keys and views of the test databases as they are at this moment.
    class Schema
      PENDING = 50

      # `database` is nil for the first one, whose tables need no further name.
      Table = Struct.new(:pool, :database, :name, :view) do
        def full_name = [database, name].compact.join(".")
      end

      def self.call(arguments) = new(arguments).call

      def initialize(arguments)
        @arguments = arguments
        @detail = arguments[:detail] || (arguments[:table] ? "full" : "summary")
      end

      def call
        Database.fresh if defined?(::ActiveRecord::Base)
        refuse("the app has no database") unless defined?(::ActiveRecord::Base)
        @databases = Database.all.map { |pool| look_into(pool) }
        refuse(nobody) if @databases.first[:error] || @databases.all? { |found| found[:tables].empty? }
        answer(chosen)
      end

      private

      # The supervisor looks at the schema files then.
      def refuse(message) = raise(Refused.new("no_database", message, hint: "bin/rails db:test:prepare makes it"))

      def nobody
        error = @databases.filter_map { |found| found[:error] }.first
        error ? "the test database can't be reached: #{error}" : "the test database has no tables"
      end

      def look_into(pool)
        Database.with(pool) do |connection|
          { pool: pool, tables: tables(pool, connection), **migrations(pool, connection) }
        end
      rescue StandardError, LoadError => e
        { pool: pool, tables: [], pending: [], error: Text.reason(e) }
      end

      def tables(pool, connection)
        database = pool.db_config.name == "primary" || pool.equal?(Database.all.first) ? nil : pool.db_config.name
        found = connection.tables.map { |name| [name, false] } + connection.views.map { |name| [name, true] }
        found.reject! { |name, _view| own?(name) }
        found.uniq(&:first).sort.map { |name, view| Table.new(pool, database, name, view) }
      end

      # Rails keeps its books there, and the app does not want those in its dump.
      def own?(name)
        base = ::ActiveRecord::Base
        [base.schema_migrations_table_name, base.internal_metadata_table_name].include?(name) ||
          ::ActiveRecord::SchemaDumper.ignore_tables.any? { |ignored| ignored === name } # rubocop:disable Style/CaseEquality
      end

      def migrations(pool, connection)
        context = pool.respond_to?(:migration_context) ? pool.migration_context : connection.migration_context
        done = context.get_all_versions
        files = Array(context.migrations_paths).flat_map { |path| migration_files(path) }
        { version: done.max&.to_s, pending: files.reject { |file| done.include?(file[:version].to_i) } }
      end

      # By their names only, which need not be good ones: they are not loaded.
      def migration_files(path)
        files = Dir.glob("**/[0-9]*_*.rb", base: path).map { |file| File.expand_path(file, path) }
        files.filter_map do |file|
          version, name = File.basename(file).match(/\A(\d+)_([^.]+)/)&.captures
          version && { version: version, name: Text.text(name), file: Text.text(file) }
        end
      end

      def chosen
        all = @databases.flat_map { |found| found[:tables] }
        all = named(all, @arguments[:table]) if @arguments[:table]
        query = @arguments[:query]&.downcase
        query ? all.select { |table| mentions?(table, query) } : all
      end

      def named(all, wanted)
        found = all.select { |table| [table.name, table.full_name].include?(wanted) }
        return found if found.any?

        near = Names.near(wanted, all.flat_map { |table| [table.name, table.full_name] }.uniq)
        hint = near.empty? ? nil : "did you mean #{near.map { |name| "`#{name}`" }.join(", ")}?"
        message = "there is no table `#{Text.text(wanted)}` in the test databases"
        raise Refused.new("table_not_found", message, hint: hint)
      end

      def mentions?(table, query)
        return true if table.full_name.downcase.include?(query)

        Database.with(table.pool) do |connection|
          connection.columns(table.name).any? { |column| column.name.downcase.include?(query) }
        end
      end

      def answer(chosen)
        page = Page.of(:tables, chosen, @arguments, &:full_name)
        page[:tables].map! { |table| show(table) }
        databases = @databases.map { |found| database(found) }
        { source: "database", databases: databases, detail: @detail, **page, **pending }
      end

      def database(found)
        config = found[:pool].db_config
        { name: config.name, adapter: config.adapter.to_s, version: found[:version], tables: found[:tables].size,
          error: found[:error] }.compact
      end

      def pending
        all = @databases.flat_map { |found| found[:pending] }.sort_by { |file| [file[:version].to_i, file[:file]] }
        { pending_migrations: all.first(PENDING), pending_count: all.size }
      end

      def show(table)
        return table.full_name if @detail == "names"

        Database.with(table.pool) { |connection| describe(table, connection) }
      rescue StandardError => e
        { name: table.name, database: table.database, error: Text.reason(e) }.compact
      end

      def describe(table, connection)
        found = { name: table.name, database: table.database, view: table.view || nil }.compact
        found[:primary_key] = table.view ? nil : Tables.primary_key(connection, table.name)
        parts = parts(table, connection)
        parts = parts.transform_values(&:size) if @detail == "summary"
        found.merge(parts)
      end

      def parts(table, connection)
        columns = { columns: Tables.columns(connection, table.name) }
        return { **columns, indexes: [], foreign_keys: [] } if table.view

        rest = { indexes: Tables.indexes(connection, table.name),
                 foreign_keys: Tables.foreign_keys(connection, table.name),
                 checks: Tables.checks(connection, table.name) }
        columns.merge(rest.reject { |name, list| name == :checks && list.empty? })
      end
    end
  end
end
