# frozen_string_literal: true

module Coatepec
  module Reading
    # Finds classes of one kind by name. What a caller sends is never evaluated and never looked up as such: it is
    # compared with the names of what is there. Only a file of the app of just that name is loaded for it, as happens
    # when the boot could not load everything.
    module Names
      PATTERN = /\A[A-Z]\w*(?:::[A-Z]\w*)*\z/
      LIMIT = 200
      SUGGESTIONS = 5
      # Classes that Rails makes for `has_and_belongs_to_many`.
      GENERATED = /(?:\A|::)HABTM_/
      KINDS = /(?<=.)_?(?:controller|job|mailer|channel)\z/

      class << self
        # The named descendants of a class that are what their name stands for, in order of their names.
        def all(base)
          Unloaded.files
          known = descendants(base).filter_map { |klass| (name = Plain.name(klass)) && [name, klass] }
          current = known.select do |name, klass|
            PATTERN.match?(name) && !GENERATED.match?(name) && Plain.same?(constant(name, loading: false), klass)
          end
          current.sort_by(&:first).map(&:last)
        end

        # @return [Class, nil]
        def find(name, base)
          return unless well_formed?(name)

          klass = constant(name, loading: false) || loaded(name)
          descendants(base).find { |known| Plain.same?(known, klass) && Plain.name(known) == name }
        end

        # Each has one superclass, so none is there twice. Some have a `hash` of their own, so none is a key.
        def descendants(base) = children(base).flat_map { |klass| [klass, *descendants(klass)] }

        def children(klass) = Plain.subclasses(klass)

        # Whether there is such a constant, loaded or to be loaded when it is used. Loads nothing.
        def known?(name)
          mod = Object
          name.split("::").each do |part|
            owner = module?(mod) && owner_of(mod, part)
            return false unless owner
            return true if Plain.autoload?(owner, part, false)

            mod = Plain.const_get(owner, part, false)
          end
          true
        end

        def well_formed?(name) = name.is_a?(String) && name.size <= LIMIT && PATTERN.match?(name)

        # @raise [Refused] with the code, and with the names that were probably meant
        def refuse(code, kind, name, classes)
          shown = name.size > LIMIT ? "#{name[0, 50]}…" : name
          near = near(name, classes.map { |klass| Plain.name(klass) })
          hint = near.empty? ? nil : "did you mean #{near.map { |found| "`#{found}`" }.join(", ")}?"
          raise Refused.new(code, "the app has no #{kind} `#{Json.text(shown)}`", hint: hint)
        end

        # The same name in another form comes first, then the same elsewhere, then what is spelled alike.
        def near(name, known)
          return [] if name.size > LIMIT

          same = known.select { |other| form(other) == form(name) }
          elsewhere = known.select { |other| form(last(other)) == form(last(name)) }
          found = same + elsewhere + alike(name, known)
          found = alike_elsewhere(last(name), known) if found.empty?
          found.uniq.first(SUGGESTIONS)
        end

        private

        # `Ops::Thing`, `ops/things`, `ops_things`, `opsthing` and `Ops::ThingsController` are forms of one name.
        def form(name) = name.underscore.sub(KINDS, "").delete("/_").singularize

        def alike(name, known) = DidYouMean::SpellChecker.new(dictionary: known).correct(name)

        def alike_elsewhere(part, known)
          by_part = known.group_by { |other| last(other) }
          alike(part, by_part.keys).flat_map { |found| by_part.fetch(found) }
        end

        def last(name) = name.split(%r{::|/}).last.to_s

        # Step by step: no `const_missing` of the app is called, and nothing is found in Object for what belongs below
        # another name. Without `loading`, what is not loaded yet is not there.
        def constant(name, loading:)
          name.split("::").inject(Object) { |mod, part| member(mod, part, loading) if module?(mod) }
        end

        def member(mod, part, loading)
          return unless Plain.const_defined?(mod, part, false)

          Plain.const_get(mod, part, false) if loading || !Plain.autoload?(mod, part, false)
        end

        # Of what a class inherits, what everybody has is not its own.
        def owner_of(mod, part)
          owners = Object.equal?(mod) ? [Object] : Plain.without(Plain.ancestors(mod), Object.ancestors)
          owners.find { |owner| Plain.const_defined?(owner, part, false) }
        end

        def module?(object)
          case object
          when Module then true
          end
        end

        # Of the app's file of just that name.
        def loaded(name)
          return unless file(name)

          modules = name.split("::").inject([]) { |names, part| names << [*names.last, part].join("::") }
          Unloaded.load(modules.filter_map { |one| file(one) }) { constant(name, loading: true) }
        end

        # Of the app, where Zeitwerk looks for it.
        def file(name)
          path = "#{name.underscore}.rb"
          Rails.autoloaders.main.dirs.map { |dir| File.join(dir, path) }.find { |file| File.file?(file) }
        end
      end
    end
  end
end
