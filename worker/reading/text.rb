# frozen_string_literal: true

module Coatepec
  module Reading
    # Values of options as data that any caller can read: bounded, without addresses in memory and without absolute
    # paths. Only what is known to be Ruby's or Rails' own is asked for its text; of anything else, the class is told.
    module Text
      # Of a list or a hash, and of each one in it.
      ITEMS = 20
      CHARACTERS = 300
      DEPTH = 4

      # Numbers and times, by the names of their classes: not all of them are loaded everywhere.
      PRINTABLE = %w[Rational Complex BigDecimal Time Date DateTime ActiveSupport::Duration
                     ActiveSupport::TimeWithZone].freeze

      class << self
        # A long list is cut, and how long it was stands beside it: `in`, `in_count`, `in_truncated`.
        def options(hash)
          hash.each_with_object({}) do |(key, value), found|
            key = key(key)
            found[key] = value(value)
            next unless (size = size_of(value)) && size > ITEMS

            found["#{key}_count"] = size
            found["#{key}_truncated"] = true
          end
        end

        def value(object, depth = DEPTH)
          case object
          when nil, true, false, Integer then object
          when String then text(object)
          when Symbol then text(object.name)
          when Float then object.finite? ? object : number(object)
          when Hash then within(depth) { hash(object, depth - 1) }
          when Array then within(depth) { list(object, depth - 1) }
          when Set then value(object.to_a, depth)
          else scalar(object)
          end
        rescue Trouble
          an_instance(object)
        end

        # Valid, of bounded length, and without the places of this machine.
        def text(string)
          string = without_places(Json.text(string))
          string.size > CHARACTERS ? "#{string[0, CHARACTERS]}… (#{string.size} characters)" : string
        end

        # Why something can't be told: an exception in one line, without addresses in memory.
        def reason(error) = reason_of(Failure.of(error))

        def reason_of(failure)
          first = failure[:message].lines.first.to_s.strip
          text(without_addresses("#{failure[:class]}: #{first}"))
        end

        # An exception as data, without addresses in memory.
        def failure(error)
          failure = Failure.of(error)
          { **failure, message: without_addresses(failure[:message]) }
        end

        def class_name(mod)
          named = mod
          named = Plain.superclass(named) while Plain.name(named).nil? && class?(named)
          name = named && Plain.name(named)
          return name if Plain.same?(named, mod) && name

          name ? "anonymous subclass of #{name}" : "anonymous module"
        end

        # A condition or handler: a name, or where the block is.
        def callable(object)
          case object
          when Symbol then text(object.name)
          when String then text(object)
          when Proc then at("block", object)
          when Method, UnboundMethod then at("method #{object.name}", object)
          when Module then class_name(object)
          else class_name(Plain.class(object))
          end
        end

        # The same of what has its place beside it.
        def handler(object)
          case object
          when Proc then "block"
          else callable(object)
          end
        end

        # An answer in which whatever is no data is told as a value.
        def data(object)
          case object
          when Hash then object.transform_values { |value| data(value) }
          when Array then object.map { |item| data(item) }
          when nil, true, false, Integer, Float, String, Symbol then object
          else value(object)
          end
        end

        private

        def without_addresses(text) = text.gsub(/0x\h{6,}/, "0x…")

        def class?(mod) = Plain.same?(Plain.class(mod), Class)

        def key(object) = value(object).to_s

        def size_of(object)
          case object
          when Array, Set, Hash then object.size
          end
        end

        def within(depth) = depth.positive? ? yield : "…"

        def list(array, depth) = array.first(ITEMS).map { |item| value(item, depth) } + more(array.size)

        def more(size) = size > ITEMS ? ["… #{size - ITEMS} more"] : []

        def hash(hash, depth) = hash.first(ITEMS).to_h { |key, item| [key(key), value(item, depth)] }

        def scalar(object)
          case object
          when Regexp then text(Regexp.instance_method(:inspect).bind_call(object))
          when Range then range(object)
          when Proc, Method, UnboundMethod then callable(object).sub(/\Ablock/, "proc")
          when Module then class_name(object)
          else printable?(object) ? text(object.to_s) : an_instance(object)
          end
        end

        def range(range)
          ends = [range.begin, range.end].map { |limit| limit.nil? ? "" : value(limit).to_s }
          ends.join(range.exclude_end? ? "..." : "..")
        end

        def number(float) = float.nan? ? "NaN" : "#{"-" if float.negative?}Infinity"

        def printable?(object) = PRINTABLE.include?(Plain.name(Plain.class(object)))

        def an_instance(object) = "instance of #{class_name(Plain.class(object))}"

        def at(what, callable)
          place = Place.of(callable)
          return what unless place

          "#{what} #{Place.own?(place) ? "at" : "of"} #{place}"
        end

        def without_places(string)
          return string unless string.include?("/")

          places.inject(string) { |text, (place, shown)| text.gsub(place, shown) }
        end

        # In a container the root may be `/app/`, which may as well be part of an address: it must begin the text, or
        # follow on what can't belong to a path.
        def places
          @places ||= [[Coatepec.root, ""], *Gem.path.map { |dir| ["#{dir}/", ""] }, *home]
                      .map { |place, shown| [%r{(?<![\w./-])#{Regexp.escape(place)}}, shown] } + [bare]
        end

        # The root by itself.
        def bare = [%r{(?<![\w./-])#{Regexp.escape(Coatepec.root.chomp("/"))}(?![\w./-])}, "."]

        def home
          [["#{Dir.home}/", "~/"]]
        rescue ArgumentError
          []
        end
      end
    end
  end
end
