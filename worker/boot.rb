# frozen_string_literal: true

module Coatepec
  # Boots the app with reloading forced on, and tells what the boot depended on.
  module Boot
    class << self
      # `environment` is the file to load, relative to the root: config/environment.rb, or an engine's dummy app.
      def call(root, environment)
        Dir.chdir(root)
        Coatepec.root
        @root = Dir.pwd
        path = File.expand_path(environment, @root)
        # config/boot sets up the bundle and bootsnap: Rails must come after it to profit, before the app to be told.
        boot = File.join(File.dirname(path), "boot.rb")
        require boot if File.file?(boot)
        Compiled.distrust
        require "rails"
        ActiveSupport.on_load(:before_initialize, yield: true) { |app| Boot.force_reloading(app) }
        require path
        Compiled.distrust
        eager_load
      end

      # Tells who holds on to what was there before; nil if nobody does.
      def reload
        before = Held.names
        Rails.application.reloader.reload!
        # The reloader of I18n looks at modification times only.
        I18n.reload!
        ::FactoryBot.reload if factories.any?
        eager_load
        Held.by(before)
      end

      # Wins over config/environments/test.rb, over the legacy setter and over initializers: a worker that can't
      # reload would serve old code.
      def force_reloading(app)
        config = app.config
        config.cache_classes = false
        config.eager_load = false
        config.file_watcher = ActiveSupport::FileUpdateChecker
        config.reload_classes_only_on_change = true
        %i[cache_classes= enable_reloading=].each { |setter| config.define_singleton_method(setter) { |_value| nil } }
      end

      def versions
        {
          ruby: RUBY_VERSION, rails: Rails.version,
          rspec: Gem.loaded_specs["rspec-core"]&.version&.to_s, minitest: Gem.loaded_specs["minitest"]&.version&.to_s
        }
      end

      # What this boot depended on, by what a change of it calls for.
      def inputs
        {
          reload_dirs: reload_dirs, reload_files: outside_gems(reload_files),
          features: outside_gems($LOADED_FEATURES).reject { |path| below?(path, reload_dirs) },
          config_dirs: config_dirs, gemfiles: gemfiles
        }
      end

      attr_reader :eager_load_error

      # Definitions of factories are loaded in a way that leaves no trace in `$LOADED_FEATURES`.
      def factory_files = factories.flat_map { |path| ["#{path}.rb", *Dir.glob("#{path}/**/*.rb")] }

      # Absolute paths of files that belong to the app rather than to Ruby or to an installed gem.
      def outside_gems(paths)
        source = paths.select { |path| path.start_with?("/") && path.end_with?(".rb", ".yml", ".yaml") }
        source.reject { |path| below?(path, gem_dirs) }.uniq
      end

      def installed?(path) = gem_dirs.any? { |dir| path.start_with?(dir) }

      private

      # Loading the app's classes once here saves each run from doing it. A file that can't be loaded must not keep
      # the others from being tested, so the error is only remembered: a spec that needs the file will meet it.
      def eager_load
        @eager_load_error = nil
        Rails.autoloaders.main.eager_load
        (Rails.application.config.eager_load_namespaces - [Rails.application]).each(&:eager_load!)
      rescue StandardError, ScriptError => e
        @eager_load_error = Failure.of(e)
      end

      def reload_dirs
        Rails.autoloaders.main.dirs - Rails.autoloaders.once.dirs + factories.select { |path| File.directory?(path) }
      end

      def reload_files
        routes = Rails.application.routes_reloader.paths.map(&:to_s)
        routes + I18n.load_path.map(&:to_s) + factories.map { |path| "#{path}.rb" }
      end

      # Where definitions of factories are, if the boot has loaded them (factory_bot_rails does): then the zygote
      # inherits them, and it takes a reload to see them changed.
      def factories
        return [] unless defined?(::FactoryBot.factories) && ::FactoryBot.factories.any?

        ::FactoryBot.definition_file_paths.map { |path| File.expand_path(path, @root) }
      end

      def gem_dirs
        @gem_dirs ||= (Gem.path + RbConfig::CONFIG.values_at("rubylibdir", "vendordir", "sitedir", "archdir"))
                      .compact.map { |dir| "#{dir.chomp("/")}/" }.uniq
      end

      def below?(path, dirs) = dirs.any? { |dir| path.start_with?("#{dir.to_s.chomp("/")}/") }

      def config_dirs
        roots = Rails::Engine.subclasses.map { |engine| engine.instance.root.to_s } << Rails.root.to_s
        roots.map { |root| File.join(root, "config") }.reject { |dir| below?(dir, gem_dirs) }
      end

      # Of gems by path: a bundle is made of what they depend on.
      def gemspecs = Gem.loaded_specs.each_value.filter_map(&:loaded_from).reject { |path| installed?(path) }

      # A Gemfile may read other Gemfiles: Bundler knows all of them. Its settings say which groups are left out.
      def gemfiles
        return [] unless defined?(Bundler)

        definition = Bundler.definition
        others = [Bundler.default_lockfile, Bundler.app_config_path.join("config")]
        (definition.gemfiles + others + gemspecs).map(&:to_s).uniq
      rescue StandardError
        []
      end
    end
  end
end
