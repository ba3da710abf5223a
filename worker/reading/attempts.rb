# frozen_string_literal: true

module Coatepec
  module Reading
    # Whatever code of the app may raise, but for what is to end this process.
    module Trouble
      def self.===(error)
        case error
        when SignalException, NoMemoryError then false
        when Exception then true
        end
      end
    end

    # Facts that are told each by itself: what one of them can't tell, the others can.
    module Attempts
      # How Rails says that there is no such database, or nobody who serves it.
      UNAVAILABLE = %w[ActiveRecord::NoDatabaseError ActiveRecord::ConnectionNotEstablished
                       ActiveRecord::AdapterNotSpecified].freeze

      private

      # @return what the block tells; nil if it can't
      def attempt(fact)
        yield
      rescue Refused => e
        troubles << { fact: fact.to_s, code: e.code, message: e.message }
        nil
      rescue Trouble => e
        troubles << { fact: fact.to_s, code: code_of(e), message: Text.reason(e) }
        nil
      end

      def troubles = @troubles ||= []

      # One reason stands once, whatever it kept from being told; nil if there is none.
      def errors
        grouped = troubles.group_by { |one| one.slice(:code, :message) }
        found = grouped.map { |error, all| { **error, fields: all.map { |one| one[:fact] }.uniq } }
        found unless found.empty?
      end

      def code_of(error)
        names = error.class.ancestors.map { |klass| Plain.name(klass) }
        names.intersect?(UNAVAILABLE) ? "database_unavailable" : "unreadable"
      end
    end
  end
end
