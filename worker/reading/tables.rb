# frozen_string_literal: true

module Coatepec
  module Reading
    # What a table is made of, asked of its database. Keys that say nothing are left out.
    module Tables
      # Given by Rails, and made of other names.
      OWN_NAME = /\Afk_rails_\h{10}\z/

      class << self
        def columns(connection, table) = connection.columns(table).map { |column| column(column) }

        def indexes(connection, table)
          connection.indexes(table).sort_by(&:name).map do |index|
            compact(name: index.name, columns: Text.value(index.columns), unique: index.unique || nil,
                    where: text(index.where), using: using(index))
          end
        end

        def foreign_keys(connection, table)
          return [] unless connection.supports_foreign_keys?

          connection.foreign_keys(table).sort_by { |key| Array(key.column) }.map { |key| foreign_key(key) }
        end

        def checks(connection, table)
          return [] unless connection.supports_check_constraints?

          connection.check_constraints(table).map { |check| compact(name: check.name, expression: check.expression) }
        end

        # A column's name, a list of them, or nil.
        def primary_key(connection, table) = one_or_many(connection.primary_keys(table))

        def one_or_many(names) = names.size > 1 ? names.map(&:to_s) : names.first&.to_s

        private

        # The usual kind of index goes without saying.
        def using(index) = ["", "btree"].include?(index.using.to_s) ? nil : index.using.to_s

        def foreign_key(key)
          primary = one_or_many(Array(key.primary_key))
          compact(column: one_or_many(Array(key.column)), to_table: key.to_table,
                  primary_key: primary == "id" ? nil : primary, name: OWN_NAME.match?(key.name.to_s) ? nil : key.name,
                  on_delete: key.on_delete, on_update: key.on_update)
        end

        def column(column)
          computed = column.respond_to?(:virtual?) && column.virtual?
          type = (column.type || column.sql_type).to_s
          sql_type = column.sql_type unless column.sql_type.to_s.casecmp?(type)
          compact(name: column.name, type: type, sql_type: sql_type, null: column.null)
            .merge(compact(default: default(column), default_function: text(column.default_function),
                           array: (column.respond_to?(:array) && column.array) || nil, virtual: computed || nil,
                           comment: text(column.comment)))
        end

        # As the database writes it, except for what JSON can say.
        def default(column)
          value = column.default
          return text(value) unless value.is_a?(String)

          case column.type
          when :integer then Integer(value, 10, exception: false) || text(value)
          when :float then Float(value, exception: false) || text(value)
          when :boolean then boolean(value)
          else text(value)
          end
        end

        def boolean(value) = !%w[0 f false FALSE].include?(value)

        def text(value) = value.nil? ? nil : Text.value(value)

        def compact(hash) = hash.reject { |_key, value| value.nil? }
      end
    end
  end
end
