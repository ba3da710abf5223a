# frozen_string_literal: true

module Coatepec
  # Tells what the app is made of, through Rails' own structured APIs. It never evaluates what it is given, resolves a
  # name only to the kind that was asked for, and reads no rows.
  module Reading
    # What was asked for can't be told: an error of the question and not of the app. `code` is stable.
    class Refused < StandardError
      attr_reader :code, :hint

      def initialize(code, message, hint: nil)
        super(message)
        @code = code
        @hint = hint
      end
    end

    # What can be asked for, each with a part of its own: `reading/routes.rb` defines `Reading::Routes.call(arguments)`.
    PARTS = { "routes" => :Routes, "controller" => :Controller, "model" => :Model, "schema" => :Schema,
              "job" => :Job, "check" => :Check }.freeze

    class << self
      # `arguments` have been checked by the supervisor (src/reading): names are well-formed, numbers in range.
      def call(what, arguments)
        name = PARTS.fetch(what)
        Coatepec.load_part("reading/#{what}") unless const_defined?(name, false)
        Text.data(const_get(name, false).call(arguments))
      end
    end
  end
end
