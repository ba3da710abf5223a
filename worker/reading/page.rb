# frozen_string_literal: true

require "digest"

module Coatepec
  module Reading
    # A page of a list. Where the next one begins is told by number, and by the rows that it follows: those are found
    # again in a list that has changed since (src/reading/page.rs makes a cursor of them, and does the same for lists
    # that the supervisor has itself).
    class Page
      LIMIT = 100
      # Rows that a cursor remembers: all of them must go for the place to be lost.
      REMEMBERED = 3

      # @yieldparam row
      # @yieldreturn [Object] what tells a row from the others, also after a change
      # @return [Hash] the rows under that key, how many there are in all, `next_offset` if there are more, and `page`,
      #   which the supervisor makes the cursor of
      def self.of(key, rows, arguments, &identity)
        page = new(rows.map(&identity), arguments)
        shown = rows.drop(page.start).first(arguments[:limit] || LIMIT)
        following = page.start + shown.size
        more = shown.any? && following < rows.size
        { key => shown, matched: rows.size, next_offset: (following if more), page: page.told(following) }.compact
      end

      # Where it begins.
      attr_reader :start

      def initialize(identities, arguments)
        @keys = identities.map { |one| digest(Json.line(one)) }
        @revision = digest(@keys.join)
        @start, @since = arguments[:cursor] ? found(*arguments[:cursor].split(".")) : [arguments[:offset] || 0, nil]
      end

      # @return [Hash] with the keys of the rows of the page, and of some before it
      def told(following)
        first = [@start - REMEMBERED, 0].max
        { revision: @revision, keys: @keys[first...following] || [], since: @since }.compact
      end

      private

      def digest(text) = Digest::SHA256.hexdigest(text)[0, 8]

      # Behind the last of the rows that is still there. Of rows that are alike, it is the nearest.
      def found(offset, _list, revision, *rows)
        offset = offset.to_i
        return [offset, nil] if revision == @revision

        places = rows.filter_map { |row| places_of(row).min_by { |place| (place + 1 - offset).abs } }
        places.empty? ? [offset, "lost"] : [places.first + 1, "moved"]
      end

      def places_of(row) = @keys.each_index.select { |place| @keys[place] == row }
    end
  end
end
