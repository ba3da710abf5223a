# frozen_string_literal: true

module Coatepec
  module Reading
    # Models held against the tables of the test databases.
    module CheckModels
      class << self
        def look(findings)
          return unless defined?(::ActiveRecord::Base) && findings.wants?(*CODES)

          Database.fresh
          Declared.fresh
          models.each { |model| findings.look(Text.class_name(model)) { look_into(model, findings) } }
        end

        private

        CODES = %w[table_missing association_class_missing association_invalid association_table_missing
                   association_column_missing enum_column_missing validator_column_missing inverse_missing
                   uniqueness_not_indexed foreign_key_not_indexed].freeze
        private_constant :CODES

        def models
          Names.all(::ActiveRecord::Base).select { |model| Place.own?(Place.of_module(model)) }
        end

        def look_into(model, findings) = model.abstract_class? || OneModel.new(model, findings).look
      end

      # Of a model's table, asked of the database: the class itself refuses when one of its enums has no column.
      module Columns
        def self.of(model) = Database.with(model) { |connection| connection.columns(model.table_name).map(&:name) }
      end

      # Declarations that a class inherits are looked at in the class that has them.
      class OneModel
        def initialize(model, findings)
          @model = model
          @findings = findings
          @name = Text.class_name(model)
          above = Plain.superclass(model)
          @parent = above if !::ActiveRecord::Base.equal?(above) && !above.abstract_class?
        end

        def look
          return table_missing unless @model.table_exists?

          enums
          validators
          reflections.each do |reflection|
            @findings.look("#{@name}.#{reflection.name}") { CheckAssociation.new(@model, reflection, @findings).look }
          end
        end

        private

        def table_missing
          message = "`#{@name}` has no table: there is no `#{@model.table_name}`"
          @findings.add("table_missing", @name, message, Place.of_module(@model))
        end

        def reflections
          @model.reflect_on_all_associations.reject do |reflection|
            @parent&.reflect_on_association(reflection.name).equal?(reflection)
          end
        end

        def columns = @columns ||= Columns.of(@model)

        def enums
          (@model.defined_enums.keys - (@parent ? @parent.defined_enums.keys : []) - columns).each do |name|
            next if virtual?(name)

            message = "the enum `#{name}` of `#{@name}` has no column in `#{@model.table_name}`"
            @findings.add("enum_column_missing", "#{@name}.#{name}", message, declared(%w[enum], name))
          end
        end

        # Rails raises for an enum whose type nobody declares, or takes a type that says nothing. The first such enum
        # keeps the others from being asked.
        def virtual?(name)
          type = @model.type_for_attribute(name)
          type.respond_to?(:subtype) && !type.subtype.instance_of?(::ActiveModel::Type::Value)
        rescue RuntimeError => e
          !e.message.include?("'#{name}'")
        end

        def validators
          mine = Plain.without(@model.validators, @parent ? @parent.validators : [])
          mine.select { |validator| Plain.responds?(validator, :attributes) }.each do |validator|
            (validator.attributes.map(&:to_s) - readable).each { |name| unreadable(name) }
            unique(validator) if validator.is_a?(::ActiveRecord::Validations::UniquenessValidator)
          end
        end

        def readable
          @readable ||= begin
            methods = Plain.instance_methods(@model) + Plain.private_instance_methods(@model)
            methods.map(&:to_s) + columns + @model.attribute_aliases.keys + attribute_names
          end
        end

        # Also those that have no column.
        def attribute_names
          @model.attribute_names
        rescue RuntimeError
          []
        end

        def unreadable(name)
          return if @model.reflect_on_association(name)

          message = "`#{@name}` validates `#{name}`, and has neither such a column nor such a method"
          @findings.add("validator_column_missing", "#{@name}.#{name}", message, validation(name))
        end

        def unique(validator)
          scope = Array(validator.options[:scope])
          validator.attributes.each do |attribute|
            names = [attribute, *scope].flat_map { |name| columns_of(name) }
            next if (names - columns).any? || Indexes.of(@model).unique?(names, partial: conditional?(validator))

            message = "`#{@name}` validates that #{Check.names(names)} is unique, and no unique index makes sure of it"
            @findings.add("uniqueness_not_indexed", "#{@name}.#{attribute}", message, validation(attribute.to_s))
          end
        end

        def columns_of(name)
          name = @model.attribute_aliases.fetch(name.to_s, name.to_s)
          reflection = @model.reflect_on_association(name)
          return [name] unless reflection&.belongs_to?

          Array(reflection.foreign_key).map(&:to_s) + (reflection.polymorphic? ? [reflection.foreign_type.to_s] : [])
        end

        def conditional?(validator)
          %i[conditions if unless allow_nil allow_blank].any? { |option| validator.options[option] }
        end

        def validation(name) = declared(%w[validates validates_presence_of validates_uniqueness_of], name)

        def declared(macros, name) = Declared.at(@model, macros, name) || Place.of_module(@model)
      end

      # The indexes of a model's table.
      class Indexes
        def self.of(model) = new(model)

        def initialize(model)
          @model = model
          Database.with(model) do |connection|
            @all = connection.indexes(model.table_name)
            @primary = connection.primary_keys(model.table_name)
          end
        end

        # Whether rows can be found by these columns, in whatever order.
        def lead_with?(names)
          keys = @all.map { |index| columns(index) } << @primary
          keys.any? { |columns| columns.first(names.size).sort == names.sort }
        end

        # Whether these columns together can't be the same twice. An index over an expression is taken at its word.
        def unique?(names, partial:)
          return true if @primary.any? && (@primary - names).empty?

          @all.select(&:unique).reject { |index| index.where && !partial }.any? do |index|
            next (columns(index) - names).empty? if index.columns.is_a?(Array)

            names.all? { |name| index.columns.include?(name) }
          end
        end

        private

        def columns(index) = Array(index.columns).map(&:to_s)
      end

      # One association held against the class and the tables that it needs.
      class CheckAssociation
        def initialize(model, reflection, findings)
          @model = model
          @reflection = reflection
          @findings = findings
          @name = "#{Text.class_name(model)}.#{reflection.name}"
        end

        def look
          return join_table if @reflection.macro == :has_and_belongs_to_many
          return through if @reflection.through_reflection?
          return polymorphic if @reflection.polymorphic?

          target = target_class
          return unless target

          keys(target)
          inverse(target)
        end

        private

        def add(code, message)
          place = Declared.at(@model, Association::MACROS, @reflection.name.to_s) || Place.of_module(@model)
          @findings.add(code, @name, "`#{@name}` #{message}", place)
        end

        def target_class
          @reflection.klass
        rescue NameError, ArgumentError
          name = Text.text(@reflection.class_name)
          add("association_class_missing", "is made of `#{name}`, which is no model of this app")
          nil
        end

        def keys(target)
          return no_table(target.table_name) unless target.table_exists?

          @reflection.belongs_to? ? own_keys(target) : their_keys(target)
        end

        def no_table(name) = add("association_table_missing", "needs the table `#{name}`, which does not exist")

        def no_columns(names, table)
          add("association_column_missing", "needs #{Check.names(names)} in `#{table}`, which has no such column")
        end

        def own_keys(target)
          names = Array(@reflection.foreign_key).map(&:to_s)
          return if missing?(@model, names)

          missing?(target, Array(@reflection.association_primary_key).map(&:to_s))
          missing?(target, [@reflection.counter_cache_column.to_s]) if @reflection.counter_cache_column
          indexed(names)
        end

        def their_keys(target)
          missing?(target, [*Array(@reflection.foreign_key), *@reflection.type].map(&:to_s))
        end

        def missing?(model, names)
          missing = names - Columns.of(model)
          no_columns(missing, model.table_name) unless missing.empty?
          missing.any?
        end

        def indexed(names)
          return if Indexes.of(@model).lead_with?(names)

          table = @model.table_name
          add("foreign_key_not_indexed", "is found by #{Check.names(names)}; no index of `#{table}` begins so")
        end

        def polymorphic
          names = [*Array(@reflection.foreign_key), @reflection.foreign_type].map(&:to_s)
          return if missing?(@model, names)

          indexed(names) unless Indexes.of(@model).lead_with?(names - [@reflection.foreign_type.to_s])
        end

        def through
          @reflection.check_validity!
        rescue ::ActiveRecord::ActiveRecordError, NameError, ArgumentError => e
          add("association_invalid", "is refused by Rails: #{Text.reason(e)}")
        end

        def join_table
          target = target_class
          return unless target

          table = @reflection.join_table.to_s
          columns = Database.with(@model) do |connection|
            connection.columns(table).map(&:name) if connection.data_source_exists?(table)
          end
          return no_table(table) unless columns

          missing = [@reflection.foreign_key, @reflection.association_foreign_key].map(&:to_s) - columns
          no_columns(missing, table) unless missing.empty?
        end

        # Named and not there; or there, and neither named nor found by Rails, so that records are loaded twice.
        def inverse(target)
          named = @reflection.options[:inverse_of]
          return if @reflection.inverse_of || named == false
          name = Text.class_name(target)
          return add("inverse_missing", "names an inverse `#{named}` that `#{name}` has not") if named

          other = other_side(target) unless @reflection.belongs_to? || @reflection.options[:as]
          add("inverse_missing", "does not know its other side `#{name}.#{other.name}`") if other
        end

        def other_side(target)
          target.reflect_on_all_associations(:belongs_to).find do |one|
            !one.polymorphic? && keys_of(one) == keys_of(@reflection)
          end
        end

        def keys_of(reflection) = Array(reflection.foreign_key).map(&:to_s)
      end
    end
  end
end
