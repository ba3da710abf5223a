# frozen_string_literal: true

module Coatepec
  module Reading
    # Where code is, as a caller may know it: "app/models/widget.rb:12" below the root, "gem devise" for code of a gem,
    # nil for everything else (Ruby itself, evaluated text).
    module Place
      class << self
        # Of a method or a block.
        def of(callable)
          case callable
          when Method, UnboundMethod, Proc then (found = callable.source_location) && at(*found)
          end
        end

        # Of an instance method, whoever defines it; nil if there is none.
        def of_method(mod, name)
          of(Plain.instance_method(mod, name))
        rescue NameError
          nil
        end

        # Of what Rails calls: the name of a method of the class, a block or an object.
        def of_handler(klass, handler)
          case handler
          when Symbol then of_method(klass, handler)
          when Proc, Method, UnboundMethod then of(handler)
          when Module then of_module(handler)
          else of_module(Plain.class(handler))
          end
        end

        # Of a class or module: where it is first opened.
        def of_module(mod)
          name = Plain.name(mod)
          found = name && Object.const_source_location(name)
          at(*found) if found&.any?
        rescue NameError
          nil
        end

        def at(file, line)
          return unless file.start_with?("/")

          gem = gem_of(file) if Boot.installed?(file) || !file.start_with?(Coatepec.root)
          return gem && "gem #{gem}" if gem || !file.start_with?(Coatepec.root)

          "#{Json.text(file.delete_prefix(Coatepec.root))}:#{line}"
        end

        # Whether it is the app's own code.
        def own?(place) = !place.nil? && !of_gem?(place)

        # What has no place is nobody's for certain: a name that nothing answers to was written in the app.
        def of_gem?(place) = !place.nil? && place.start_with?("gem ")

        private

        # A gem in another gem's directory is the inner one.
        def gem_of(file)
          found = gem_dirs.select { |dir, _name| file.start_with?(dir) }
          found.max_by { |dir, _name| dir.size }&.last
        end

        def gem_dirs
          @gem_dirs ||= Gem.loaded_specs.to_h { |name, spec| ["#{spec.full_gem_path}/", name] }
        end
      end
    end
  end
end
