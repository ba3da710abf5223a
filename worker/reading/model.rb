# frozen_string_literal: true

%w[database tables declared callbacks page association].each do |name|
  Coatepec.load_part("reading/#{name}") unless Coatepec::Reading.const_defined?(name.capitalize, false)
end

module Coatepec
  module Reading
    # What a model of ActiveRecord is made of. Each part is told by itself: what one of them can't tell, the others can.
    class Model
      include Attempts

      FIELDS = %w[columns associations validators enums scopes callbacks indexes foreign_keys attributes sti concerns
                  methods].freeze
      # Of one list of one model; more of it if nothing else is asked for.
      ITEMS = 200
      ITEMS_ALONE = 2000

      class << self
        def call(arguments)
          refuse_all unless defined?(::ActiveRecord::Base)
          Database.fresh
          Declared.fresh
          names = arguments[:names] || (arguments[:name] && [arguments[:name]])
          names ? { models: models(names, arguments) } : list(arguments)
        end

        def find(name)
          found = Names.find(name, ::ActiveRecord::Base)
          found || Names.refuse("model_not_found", "ActiveRecord model", name, Names.all(::ActiveRecord::Base))
        end

        private

        def refuse_all = raise(Refused.new("model_not_found", "the app does not load ActiveRecord"))

        # One name that is wrong is an error; of several, the others are told.
        def models(names, arguments)
          names.uniq.map do |name|
            new(find(name), arguments[:fields] || []).to_h
          rescue Refused => e
            raise if names.size == 1

            { name: Text.text(name), error: { code: e.code, message: e.message, hint: e.hint }.compact }
          end
        end

        def list(arguments)
          rows = Names.all(::ActiveRecord::Base).map { |model| row(model) }
          query = arguments[:query]&.downcase
          rows = rows.select { |row| mentions?(row, query) } if query
          Page.of(:models, rows, arguments) { |row| row[:name] }.merge(Unloaded.told)
        end

        def mentions?(row, query) = row.values_at(:name, :table_name).any? { |it| it.to_s.downcase.include?(query) }

        def row(model)
          abstract = model.abstract_class? ? true : nil
          table_name = Text.value(model.table_name) unless abstract
          { name: Plain.name(model), table_name: table_name, abstract_class: abstract, at: Place.of_module(model) }
            .compact
        rescue Trouble
          { name: Plain.name(model) }
        end
      end

      def initialize(model, fields)
        @model = model
        @asked = fields
      end

      def to_h
        head = head()
        found = FIELDS.to_h { |name| [name, (attempt(name) { send(name) } unless skipped?(name))] }
        shown = found.slice(*@asked).compact.transform_values { |list| list.is_a?(Array) ? list.first(items) : list }
        counts = counts(found, shown)
        { **head, **shown, counts: counts.empty? ? nil : counts, errors: errors }.compact
      end

      private

      attr_reader :model

      def head
        { name: Plain.name(model), at: Place.of_module(model), abstract_class: abstract?,
          table_name: (attempt("table_name") { Text.value(model.table_name) } unless abstract?),
          primary_key: (attempt("primary_key") { Text.value(primary_key) } unless abstract?),
          database: attempt("database") { Database.name_of(model) } }.compact
      end

      def abstract?
        return @abstract if defined?(@abstract)

        @abstract = attempt("abstract_class") { model.abstract_class? ? true : false } || false
      end

      def skipped?(field) = abstract? && %w[columns indexes foreign_keys attributes sti].include?(field)

      # Of what was not asked for, and of what was cut.
      def counts(found, shown)
        sizes = found.select { |_name, list| list.is_a?(Array) }.transform_values(&:size)
        sizes.reject { |name, size| shown.key?(name) && size <= items }
      end

      def items = @asked.size == 1 ? ITEMS_ALONE : ITEMS

      # From the database, unless the class names it: a table without a key has none.
      def primary_key
        key = model.primary_key
        key.is_a?(Array) ? key.map(&:to_s) : key
      end

      # @yieldparam connection
      def in_table
        Database.with(model) do |connection|
          name = model.table_name
          next yield connection, name if name && connection.data_source_exists?(name)

          where = "the test database `#{Database.name_of(model)}`"
          raise Refused.new("table_not_found", "there is no table `#{Text.text(name.to_s)}` in #{where}")
        end
      end

      def columns = in_table { |connection, table| Tables.columns(connection, table) }

      def indexes = in_table { |connection, table| Tables.indexes(connection, table) }

      def foreign_keys = in_table { |connection, table| Tables.foreign_keys(connection, table) }

      def associations = Association.of(model)

      # A class declares one validator for each line; a concern may repeat the line.
      def validators
        model.validators.filter_map { |one| attempt("validators") { validator(one) } }.uniq
      end

      def validator(validator)
        attributes = Plain.responds?(validator, :attributes) ? validator.attributes.map(&:to_s) : nil
        options = Text.options(validator.options.except(:class))
        klass = Plain.class(validator)
        { name: Text.class_name(klass), attributes: attributes, options: options.empty? ? nil : options,
          at: validator_place(klass) }.compact
      end

      # Of the app's own, which may have no name.
      def validator_place(klass)
        places = %i[validate_each validate].map { |name| Place.of_method(klass, name) }
        places.find { |place| Place.own?(place) }
      end

      def enums
        model.defined_enums.map do |name, values|
          shown = values.first(ITEMS).map { |label, value| [Text.text(label), Text.value(value)] }
          { name: name, values: shown.to_h, values_count: (values.size if values.size > ITEMS) }.compact
        end
      end

      def scopes
        found = own_classes.flat_map { |klass| scopes_of(klass) }.uniq
        placed = found.map { |name| { name: name, at: Declared.at(model, ["scope"], name) }.compact }
        defaults = model.default_scopes.map { |scope| default_scope(scope) }
        defaults + placed.map { |scope| scope[:at] || !enum?(scope[:name]) ? scope : { **scope, enum: true } }
      end

      def own_classes = Plain.ancestors(model).grep(Class).take_while { |klass| !::ActiveRecord::Base.equal?(klass) }

      # They are methods that Rails defines, all in one place.
      def scopes_of(klass)
        Plain.singleton_methods(klass, false).sort.select do |name|
          file, = Plain.instance_method(Plain.singleton_class(klass), name).source_location
          file&.end_with?("active_record/scoping/named.rb")
        end.map(&:to_s)
      end

      def default_scope(scope)
        { name: "default_scope", at: Place.of(scope.respond_to?(:scope) ? scope.scope : scope) }.compact
      end

      def enum?(scope)
        labels = model.defined_enums.values.flat_map(&:keys).map { |label| label.gsub(/\W+/, "_") }
        labels.any? { |label| scope.include?(label) }
      end

      def callbacks = Callbacks.of(model, model.__callbacks.keys)

      # What the class makes of its columns, and what it has beside them.
      def attributes
        columns = in_table { |connection, table| connection.columns(table).to_h { |found| [found.name, found.type] } }
        types = model.attribute_types.filter_map { |name, type| attribute(name, type, columns) }
        types + stored + aliases
      end

      # @see ActiveRecord: these say what is done to the value of a column
      KINDS = { "EnumType" => "enum", "Serialized" => "serialized", "EncryptedAttributeType" => "encrypted",
                "NormalizedValueType" => "normalized" }.freeze

      def attribute(name, type, columns)
        kind = KINDS[Text.class_name(Plain.class(type)).split("::").last]
        return if columns.key?(name) && kind.nil? && type.type == columns[name]

        { name: name, type: type.type&.to_s, kind: kind, column: columns.key?(name) ? nil : false }.compact
      end

      def stored
        model.stored_attributes.flat_map { |store, names| names.map { |name| { name: name.to_s, store: store.to_s } } }
      end

      def aliases
        found = model.attribute_aliases.except("id_value")
        found.map { |name, original| { name: name, alias_of: original } }
      end

      # Single table inheritance; nil where there is none.
      def sti
        column = model.inheritance_column
        return unless in_table { |connection, table| connection.columns(table).any? { |found| found.name == column } }

        below = Names.all(model).map { |klass| Plain.name(klass) }
        { base_class: Plain.name(model.base_class), inheritance_column: column, type: Text.value(model.sti_name),
          descendants: below }
      end

      def concerns
        mods = Plain.without(Plain.included_modules(model), ::ActiveRecord::Base.included_modules)
        found = mods.map { |mod| { name: Plain.name(mod), at: Place.of_module(mod) } }
        found.select { |mod| mod[:name] && mod[:at] && !Callbacks.rails?(mod[:at]) }
      end

      # Public, and written in the app.
      def methods
        instance = Plain.public_instance_methods(model, false).sort.map do |name|
          ["##{name}", Plain.instance_method(model, name)]
        end
        own = Plain.singleton_methods(model, false).sort.map do |name|
          [".#{name}", Plain.instance_method(Plain.singleton_class(model), name)]
        end
        placed = (own + instance).map { |name, method| { name: name, at: Place.of(method) } }
        placed.select { |method| Place.own?(method[:at]) }
      end
    end
  end
end
