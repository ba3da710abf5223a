# frozen_string_literal: true

module Coatepec
  # A warm process has loaded the app before any coverage tool was there to see it, so its figures would be wrong, and a
  # forked child would add them to the report of the last honest run. In a fork, coverage is silent.
  module CoverageTools
    class << self
      # Says whether there was one to silence.
      def silence
        return false unless defined?(::SimpleCov)

        ::SimpleCov.external_at_exit = true if ::SimpleCov.respond_to?(:external_at_exit=)
        ::SimpleCov.at_exit { nil }
        true
      rescue StandardError
        false
      end
    end
  end
end
