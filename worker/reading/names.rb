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
      KINDS = /(?<=.)_?(?:controller|job|mailer|channel)\z/

      SUBCLASSES = Class.instance_method(:subclasses)
      CONST_DEFINED = Module.instance_method(:const_defined?)
      CONST_GET = Module.instance_method(:const_get)
      AUTOLOAD = Module.instance_method(:autoload?)
      ANCESTORS = Module.instance_method(:ancestors)

      class << self
        # The named descendants of a class that are what their name stands for, in order of their names.
        def all(base)
          Unloaded.files
          known = descendants(base).filter_map { |klass| (name = Text.real_name(klass)) && [name, klass] }
          current = known.select { |name, klass| PATTERN.match?(name) && constant(name, loading: false).equal?(klass) }
          current.sort_by(&:first).map(&:last)
        end

        # @return [Class, nil]
        def find(name, base)
          return unless well_formed?(name)

          klass = constant(name, loading: false) || loaded(name)
          descendants(base).find { |known| known.equal?(klass) && Text.real_name(known) == name }
        end

        # Each has one superclass, so none is there twice. Some have a `hash` of their own, so none is a key.
        def descendants(base) = children(base).flat_map { |klass| [klass, *descendants(klass)] }

        def children(klass) = SUBCLASSES.bind_call(klass)

        # Whether there is such a constant, loaded or to be loaded when it is used. Loads nothing.
        def known?(name)
          mod = Object
          name.split("::").each do |part|
            owner = module?(mod) && owner_of(mod, part)
            return false unless owner
            return true if AUTOLOAD.bind_call(owner, part, false)

            mod = CONST_GET.bind_call(owner, part, false)
          end
          true
        end

        def well_formed?(name) = name.is_a?(String) && name.size <= LIMIT && PATTERN.match?(name)

        # @raise [Refused] with the code, and with the names that were probably meant
        def refuse(code, kind, name, base)
          shown = name.size > LIMIT ? "#{name[0, 50]}…" : name
          near = near(name, all(base).map { |klass| Text.real_name(klass) })
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
          return unless CONST_DEFINED.bind_call(mod, part, false)

          CONST_GET.bind_call(mod, part, false) if loading || !AUTOLOAD.bind_call(mod, part, false)
        end

        # Of what a class inherits, what everybody has is not its own.
        def owner_of(mod, part)
          owners = mod == Object ? [Object] : ANCESTORS.bind_call(mod) - ANCESTORS.bind_call(Object)
          owners.find { |owner| CONST_DEFINED.bind_call(owner, part, false) }
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
