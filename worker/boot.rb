# frozen_string_literal: true

module Coatepec
  # Boots the app, and tells what that depended on.
  module Boot
    class << self
      # Loads the app as far as none of its reloadable code is loaded, and calls the block there, in which the worker
      # waits. It returns in forks only, each of which loads the rest for itself: so a change of that code needs another
      # fork, and nothing of the old code is in it. `environment` is the file to load, relative to the root:
      # config/environment.rb, or an engine's dummy app.
      def call(root, environment, &hold)
        Dir.chdir(root)
        Coatepec.root
        @root = Dir.pwd
        @hold = hold
        Traces.during(:boot) do
          load_app(File.expand_path(environment, @root))
          # An app of which nobody saw the beginning: it is there as a whole.
          pause(whole: true)
          eager_load unless @eager_load_error
        end
        Tables.remember_what_classes_saw
      end

      # In front of `Rails::Initializable::Initializer`: from this one on, the app's classes can be found.
      module Turn
        def run(*)
          return super unless name == :setup_main_autoloader

          Boot.turn { super }
        end
      end

      # Code of the app's own that went on in a thread, or in a process that is waited for, would be gone in a fork; and
      # a fork from within a fiber ends with that. Then all of the app is loaded before.
      def turn
        return yield if @hold.nil? || Guard.own_threads? || Guard.children? || Guard.fiber?

        Ahead.load
        pause
        # An initializer may have wished otherwise.
        @app.config.eager_load = false
        yield
        Ahead.catch_up
      end

      # Classes are loaded by us, so that one that can't be loaded does not keep the others from being tested. And
      # nothing shall start threads to look for changes.
      def configure(app)
        @app = app
        app.config.eager_load = false
        app.config.file_watcher = ActiveSupport::FileUpdateChecker
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

      # What the worker depends on, and what its fork does, by what a change of it calls for.
      def inputs
        dirs = reload_dirs
        @kept.merge(reload_dirs: dirs, reload_files: outside_gems(reload_files), app_features: app_features(dirs),
                    class_traces: Traces.of(:classes, known_files))
      end

      # Why not all classes can be loaded. Who knows it from the start leaves each to whoever needs it: half of a class,
      # loaded again, is none that a fresh process has.
      attr_accessor :eager_load_error

      # Those of the app, and those that were there when it was forked, and are not in it.
      def threads
        now = [Guard.threads, Guard.native]
        threads, native = now.zip(@threads).map { |here, gone| here + (gone - here) }
        { threads: threads, native: native }
      end

      # Definitions of factories are loaded in a way that leaves no trace in `$LOADED_FEATURES`.
      def factory_files = factories.flat_map { |path| ["#{path}.rb", *Dir.glob("#{path}/**/*.rb")] }

      # Absolute paths of files that belong to the app rather than to Ruby or to an installed gem.
      def outside_gems(paths)
        source = paths.select { |path| path.start_with?("/") && path.end_with?(".rb", ".yml", ".yaml") }
        source.reject { |path| below?(path, gem_dirs) }.uniq
      end

      def installed?(path) = gem_dirs.any? { |dir| path.start_with?(dir) }

      # What a change of is noticed in another way.
      def known_files = reload_files + @kept[:gemfiles]

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
        ::Rails::Initializable::Initializer.prepend(Turn)
        ActiveSupport.on_load(:before_initialize, yield: true) do |app|
          Boot.configure(app)
          Boot.locate_routes
        end
        require path
        Compiled.distrust
      end

      def pause(whole: false)
        return unless @hold

        hold = @hold
        @hold = nil
        @kept = kept(whole)
        @loaders = loaders
        @loaded_before = $LOADED_FEATURES.dup
        Tables.keep_what_the_boot_saw
        @threads = [Guard.threads, Guard.native]
        Traces.pause(:classes) { hold.call }
        Tables.forget
      end

      # What the boot itself depended on: whatever of it changes, it takes another boot.
      def kept(whole)
        files = gemfiles
        {
          whole: whole, features: outside_gems($LOADED_FEATURES), config_dirs: config_dirs, gemfiles: files,
          code_dirs: code_dirs, vouched: vouched, boot_traces: with_places(Traces.of(:boot, files)),
          asks_tables: Tables.seen?
        }
      end

      # Loading the app's classes once here saves each run from doing it. A file that can't be loaded must not keep
      # the others from being tested, so the error is only remembered: a spec that needs the file will meet it.
      def eager_load
        @eager_load_error = nil
        Rails.autoloaders.main.eager_load
        (Rails.application.config.eager_load_namespaces - Ahead.loaded - [Rails.application]).each(&:eager_load!)
      rescue SignalException
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- a file may `abort`, or exhaust the stack
        @eager_load_error = Failure.of(e)
      end

      # Zeitwerk is told of them when it is their turn.
      def reload_dirs
        dirs = ActiveSupport::Dependencies.autoload_paths.map(&:to_s).select { |dir| File.directory?(dir) }
        dirs = (dirs | Rails.autoloaders.main.dirs) - Rails.autoloaders.once.dirs
        # Also what the app itself has made after the boot.
        dirs |= dirs_of(loaders - @loaders.to_a).reject { |dir| installed?(dir) }
        dirs + factories.select { |path| File.directory?(path) }
      end

      # What was loaded along with the classes.
      def app_features(dirs)
        outside_gems($LOADED_FEATURES - @loaded_before).reject { |path| below?(path, dirs) }
      end

      # Where code is that Zeitwerk finds by its name, and of which the worker has the list. That of the app's classes
      # is one of them only if an initializer has made it before its time.
      def code_dirs
        main = Rails.autoloaders.main
        main = nil if main.instance_variable_get(:@setup)
        dirs = dirs_of(loaders - [main]) + Rails.autoloaders.once.dirs
        dirs.uniq.reject { |dir| installed?(dir) }
      end

      def dirs_of(loaders) = loaders.flat_map { |loader| loader.dirs.map(&:to_s) }

      def loaders
        found = []
        Zeitwerk::Registry.loaders.each { |loader| found << loader }
        found
      rescue NameError
        []
      end

      # Directories that code would be loaded from, if they were there; and files with routes, which are on a list.
      def with_places(traces)
        places = ActiveSupport::Dependencies.autoload_paths.map(&:to_s).reject { |dir| File.directory?(dir) }
        places = (places + route_files).map { |path| { dir: File.dirname(path), pattern: File.basename(path) } }
        { **traces, listings: traces[:listings] + places }
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
