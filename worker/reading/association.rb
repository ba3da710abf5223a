# frozen_string_literal: true

module Coatepec
  module Reading
    # An association of a model. One that Rails itself can't make sense of is told as far as it goes, with the reason.
    class Association
      include Attempts

      MACROS = %w[belongs_to has_one has_many has_and_belongs_to_many has_one_attached has_many_attached].freeze
      FACTS = %i[class_name foreign_key foreign_type primary_key through source polymorphic as join_table inverse_of
                 scope options at].freeze
      # Told as facts of their own.
      TOLD = %i[class_name foreign_key through polymorphic inverse_of as join_table primary_key anonymous_class source
                source_type query_constraints].freeze

      def self.of(model) = model.reflect_on_all_associations.map { |reflection| new(model, reflection).to_h }

      def initialize(model, reflection)
        @model = model
        @reflection = reflection
      end

      def to_h
        check
        facts = FACTS.to_h { |name| [name, attempt(name) { send(name) }] }.compact
        found = { name: reflection.name.to_s, macro: reflection.macro.to_s, **facts }
        return found if troubles.empty?

        # What the model says, if nothing goes by that name.
        found[:class_name] ||= attempt("class_name") { reflection.class_name unless reflection.polymorphic? }
        { **found, error: troubles.first[:message] }.compact
      end

      private

      attr_reader :reflection

      # What it goes through may be missing: Rails has words for that, if it is asked before all else.
      def check = attempt("through") { reflection.check_validity! if reflection.through_reflection? }

      def class_name = polymorphic ? nil : Plain.name(reflection.klass)

      def foreign_key = Tables.one_or_many(Array(reflection.foreign_key))

      # The column that says of which class the other side is.
      def foreign_type = (polymorphic ? reflection.foreign_type : reflection.type)&.to_s

      def primary_key = (key = reflection.options[:primary_key]) && Tables.one_or_many(Array(key))

      def through = reflection.through_reflection&.name&.to_s

      def source = through && reflection.source_reflection.name.to_s

      def polymorphic = reflection.polymorphic? || nil

      def as = reflection.options[:as]&.to_s

      def join_table = reflection.macro == :has_and_belongs_to_many ? reflection.join_table.to_s : nil

      # Also the one that Rails finds by itself.
      def inverse_of = polymorphic || through ? nil : reflection.inverse_of&.name&.to_s

      def scope = reflection.scope ? true : nil

      def options
        shown = Text.options(reflection.options.except(*TOLD).compact)
        shown.empty? ? nil : shown
      end

      def at = Declared.at(@model, MACROS, reflection.name.to_s)
    end
  end
end
