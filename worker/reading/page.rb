# frozen_string_literal: true

module Coatepec
  module Reading
    # A page of a list, and where the next one begins.
    module Page
      LIMIT = 100

      # @return [Hash] the rows under that key, how many there are in all, and `next_offset` if there are more
      def self.of(key, rows, arguments)
        offset = arguments[:offset] || 0
        shown = rows.drop(offset).first(arguments[:limit] || LIMIT)
        following = offset + shown.size if shown.any? && offset + shown.size < rows.size
        { key => shown, matched: rows.size, next_offset: following }.compact
      end
    end
  end
end
