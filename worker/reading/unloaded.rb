# frozen_string_literal: true

module Coatepec
  module Reading
    # Files of the app that can't be loaded. The boot stops at the first of them, and the classes behind it are as good
    # as gone: lists of classes would lack them silently. So the others are loaded here, and those that fail are told.
    module Unloaded
      FILES = 20

      class << self
        # Once for each reader: a file that changes makes a new one.
        # @return [Array<Hash>] file and reason
        def files
          @files ||= Boot.eager_load_error ? load_rest : []
        end

        # Calls the block, which loads the last of these files. What keeps a file from being loaded is told as it was at
        # first: from the second time on, Ruby may only say that there is no such constant.
        # @param paths [Array<String>] absolute ones, of a class and of the modules that it is in
        # @raise [Refused]
        def load(paths)
          places = paths.map { |path| place(path) }
          known = (files + tried).find { |one| places.include?(one[:file]) }
          known ||= attempt(places.last) { return yield }.tap { |failure| tried << failure }
          raise Refused.new("read_failed", "`#{known[:file]}` can't be loaded: #{known[:reason]}",
                            hint: "mend it and call again; runs are not concerned")
        end

        # What a list of classes says beside them.
        def told
          return {} if files.empty?

          { not_loaded: files.first(FILES), not_loaded_count: files.size }
        end

        private

        def tried = @tried ||= []

        def place(path) = Place.at(path, 1)&.delete_suffix(":1")

        def load_rest
          failed = ruby_files.filter_map { |file| attempt(place(file)) { load_file(file) } }
          failed + engines.filter_map { |engine| attempt(Text.class_name(engine)) { engine.eager_load! } }
        end

        def engines
          app = Rails.application
          app.config.eager_load_namespaces.reject { |one| [app, app.class].any? { |other| other.equal?(one) } }
        end

        # Only where Rails, too, loads everything.
        def ruby_files
          eager = ActiveSupport::Dependencies._eager_load_paths.map(&:to_s)
          (Rails.autoloaders.main.dirs & eager).flat_map { |dir| Dir.glob("#{dir}/**/*.rb") }.uniq.sort
        end

        def load_file(file)
          Rails.autoloaders.main.load_file(file)
        rescue ::Zeitwerk::Error => e
          # Ignored by the app's own wish, or shadowed.
          raise if e.is_a?(::Zeitwerk::NameError)
        end

        def attempt(file)
          yield
          nil
        rescue Trouble => e
          { file: file, reason: reason_at_boot(file) || Text.reason(e) }
        end

        # The file that the boot stopped at may fail otherwise the second time: the half of it that was loaded is gone.
        def reason_at_boot(file)
          error = Boot.eager_load_error
          first = error && error[:frames].first&.match(/\A(.+?):(\d+)/)
          Text.reason_of(error) if file && first && place(first[1]) == file
        end
      end
    end
  end
end
