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
        Traces.during(:boot) { load_app(path) }
        @required = required
        Traces.during(:classes) { eager_load }
        Tables.remember_what_classes_saw
      end

      # Tells who holds on to what was there before; nil if nobody does.
      def reload
        before = Held.names
        Tables.forget
        Traces.during(:classes) { load_again }
        Tables.remember_what_classes_saw
        Held.by(before)
      end

      # Wins over config/environments/test.rb, over the legacy setter and over initializers: a worker that can't
      # reload would serve old code.
      def force_reloading(app)
        @app = app
        config = app.config
        config.cache_classes = false
        config.eager_load = false
        config.file_watcher = ActiveSupport::FileUpdateChecker
        config.reload_classes_only_on_change = true
        %i[cache_classes= enable_reloading=].each { |setter| config.define_singleton_method(setter) { |_value| nil } }
      end

      # Has each route remember where it was drawn, from Rails 7.1 on: the app's own line, not one of the gem that drew
      # it. Rails' initializer would switch it off again.
      def locate_routes
        return unless defined?(::ActionDispatch::Routing::Mapper.route_source_locations)

        mapper = ::ActionDispatch::Routing::Mapper
        mapper.route_source_locations = true
        mapper.define_singleton_method(:route_source_locations=) { |_value| nil }
        mapper.backtrace_cleaner = ActiveSupport::BacktraceCleaner.new.tap do |cleaner|
          cleaner.remove_filters!
          cleaner.remove_silencers!
          cleaner.add_silencer { |line| !line.start_with?(Coatepec.root) || installed?(line) }
        end
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
          features: outside_gems($LOADED_FEATURES).reject { |path| below?(path, reload_dirs) } + @required + strays,
          config_dirs: config_dirs, gemfiles: gemfiles, code_dirs: code_dirs, vouched: vouched,
          boot_traces: with_absent_dirs(Traces.of(:boot)), class_traces: Traces.of(:classes)
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

      # Whether a reload loads it again.
      def reloadable?(path)
        # Whoever asks for the app too early has it made too early.
        @app && path.end_with?(".rb") ? below?(path, reload_dirs) || route_files.include?(path) : false
      end

      # What a change of is noticed in another way.
      def known_files = reload_files + gemfiles

      # Of the app, of the repository that it is in, or of a gem by path.
      def near?(path) = path.start_with?(Coatepec.root, *neighbours)

      # Around the app, where it is one of several things in a repository; with a final slash.
      def repository
        return @repository if defined?(@repository)

        found = directories_above.find { |dir| dir.join(".git").exist? }
        @repository = found && "#{found}/"
      end

      private

      def load_app(path)
        # config/boot sets up the bundle and bootsnap: Rails must come after it to profit, before the app to be told.
        boot = File.join(File.dirname(path), "boot.rb")
        require boot if File.file?(boot)
        Compiled.distrust
        Traces.listen
        require "rails"
        ActiveSupport.on_load(:before_initialize, yield: true) do |app|
          Boot.force_reloading(app)
          Boot.locate_routes
        end
        require path
        Compiled.distrust
      end

      def load_again
        Rails.application.reloader.reload!
        # The reloader of I18n looks at modification times only.
        I18n.reload!
        ::FactoryBot.reload if factories.any?
        eager_load
      end

      # Loading the app's classes once here saves each run from doing it. A file that can't be loaded must not keep
      # the others from being tested, so the error is only remembered: a spec that needs the file will meet it.
      def eager_load
        @eager_load_error = nil
        Rails.autoloaders.main.eager_load
        (Rails.application.config.eager_load_namespaces - [Rails.application]).each(&:eager_load!)
      rescue SignalException
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- a file may `abort`, or exhaust the stack
        @eager_load_error = Failure.of(e)
      end

      def reload_dirs
        Rails.autoloaders.main.dirs - Rails.autoloaders.once.dirs + factories.select { |path| File.directory?(path) }
      end

      # Of the code that can be reloaded, what the boot required by itself: Zeitwerk leaves it as it is.
      def required
        managed = Held.names
        loader = Rails.autoloaders.main
        files = $LOADED_FEATURES.select { |path| below?(path, reload_dirs) }
        files.reject { |path| managed[loader.cpath_expected_at(path)] }
      rescue NoMethodError, Zeitwerk::Error # Before Zeitwerk 2.6.9 it can't be asked.
        []
      end

      # Files of such code that define other constants, too: these stay when the rest is unloaded.
      def strays
        managed = Held.names
        names = Object.constants(false).reject { |name| managed[name.to_s] || Object.autoload?(name, false) }
        files = names.filter_map { |name| Object.const_source_location(name, false)&.first }
        files.uniq.select { |path| below?(path, reload_dirs) }
      end

      # Where code is that Zeitwerk finds by its name and never loads again.
      def code_dirs
        loaders = []
        Zeitwerk::Registry.loaders.each { |loader| loaders << loader }
        dirs = loaders.flat_map { |loader| loader.dirs.map(&:to_s) } + Rails.autoloaders.once.dirs
        dirs.uniq.reject { |dir| installed?(dir) || reload_dirs.include?(dir) }
      rescue NameError
        []
      end

      # Directories that code would be loaded from, if they were there.
      def with_absent_dirs(traces)
        absent = ActiveSupport::Dependencies.autoload_paths.map(&:to_s).reject { |dir| File.directory?(dir) }
        absent = absent.map { |dir| { dir: File.dirname(dir), pattern: File.basename(dir) } }
        { **traces, listings: traces[:listings] + absent }
      end

      # Bundler writes the lock when the Gemfile asks for more than it holds: what it wrote is what was booted with.
      def vouched
        lock = Bundler.default_lockfile
        File.read(lock) == Bundler.definition.to_lock ? [lock.to_s] : []
      rescue StandardError
        []
      end

      def neighbours
        @neighbours ||= begin
          gems = Gem.loaded_specs.each_value.map { |spec| "#{spec.full_gem_path}/" }
          [repository, *gems].compact.reject { |dir| installed?(dir) }
        end
      end

      # As far as the home, which may well be a repository of its own kind.
      def directories_above
        Pathname(Dir.pwd).ascend.drop(1).take_while { |dir| !dir.root? && dir.to_s != Dir.home }
      rescue ArgumentError # No home.
        []
      end

      def reload_files
        route_files + I18n.load_path.map(&:to_s) + factories.map { |path| "#{path}.rb" }
      end

      def route_files = @app.routes_reloader.paths.map(&:to_s)

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
