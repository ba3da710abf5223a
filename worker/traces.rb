# frozen_string_literal: true

module Coatepec
  # What a load depended on besides the code of which `$LOADED_FEATURES` is the list: files that were brought in by
  # `load`, data, and what directories held. Ruby's own ways to read are listened to while the load goes on, and not a
  # moment longer. What a C library or another process reads goes unheard.
  module Traces
    # How Ruby is asked whether a file is there.
    LOOKS = %i[exist? file? directory? symlink? readable? writable? executable? size size? zero? empty?].freeze

    # Where Ruby's ways to read begin: the class, the module in front of it, its methods and what hears of them.
    WAYS = [
      [File, Module.new, %i[initialize], "opened"],
      [IO.singleton_class, Module.new, %i[read binread readlines foreach sysopen], "read"],
      [IO.singleton_class, Module.new, %i[write binwrite], "written"],
      [Dir, Module.new, %i[initialize], "listed"],
      [Dir.singleton_class, Module.new, %i[entries children each_child foreach], "listed"],
      [Dir.singleton_class, Module.new, %i[glob], "searched"],
      [Dir.singleton_class, Module.new, %i[[]], "searched_all"],
      [File.singleton_class, Module.new, %i[rename], "renamed"],
      [File.singleton_class, Module.new, LOOKS + %i[stat lstat mtime readlink], "looked_for"],
      # By way of which a Pathname asks.
      [FileTest.singleton_class, Module.new, LOOKS, "looked_for"],
      [Dir.singleton_class, Module.new, %i[exist?], "looked_for"]
    ].freeze

    # Of what is told, for each kind: files (then their directories are told instead), directories, listings.
    LIMIT = 1000

    # Who has ways of its own to notice what is new, or asks for what nobody has to notice.
    # Not the patterns that the app gives Zeitwerk: those are of the moment at which they were given.
    HOUSEKEEPING = %r{
      /(bootsnap|bundler|rubygems)/|/zeitwerk/(?!loader/config\.rb)|/bundled_gems\.rb|
      /active_support/file_update_checker\.rb
    }x
    CATALOGUE = /\.gemspec\z/
    FACTORIES = %r{/factory_bot/}
    # What Rails lists at each boot, whoever needs it.
    PATHS = %r{/rails/paths\.rb}
    PLACES = %r{/config(/(?!routes)|\z)|/app/assets\z|/lib/tasks\z}

    # Written by each run, or not of the app.
    OUTPUT = %r{\A(tmp|log|coverage|\.git|\.bundle|node_modules|vendor/bundle)/}

    SYSTEM = %r{\A/(proc|sys|dev)/}

    # Who opens a file to change what is in it has read it, too.
    WRITES = File::WRONLY | File::TRUNC | File::APPEND

    # What strange arguments make of us. Not all: the app may be about to be interrupted.
    ODD = [ArgumentError, TypeError, NameError, EncodingError, SystemCallError].freeze

    # What was found for one kind of load.
    Found = Struct.new(:files, :code, :listings, :looked_for, :written) do
      def self.empty = new({}, {}, {}, {}, {})
    end

    class << self
      # `kind` says what a change calls for: `boot`, `classes` (a reload) or `helper`.
      def during(kind)
        begin_with(kind)
        yield
      ensure
        deafen
      end

      # Nobody listens while the block goes on; what comes then is of another kind.
      def pause(kind)
        deafen
        yield
        begin_with(kind)
      end

      # Again, when something may have come before it that does not pass on what it is asked for.
      def listen
        WAYS.each do |target, ear, names, hears|
          target.prepend(ear)
          names.each { |name| give(ear, "def #{name}(...) = (::Coatepec::Traces.#{hears}(...); super)") }
        end
        listen_to_code
        @errors ||= TracePoint.new(:raise) { |point| missed(point.raised_exception) }
        @errors.enable
      end

      # But for files that are known to matter without this.
      def of(kind, known)
        found = @found[kind]
        files = found.files.keys + (found.code.keys - $LOADED_FEATURES)
        files = (files - known).select { |path| Boot.near?(path) }
        { **bounded(files), listings: listings(found), written: found.written.keys.first(LIMIT) }
      end

      def opened(path = nil, mode = "r", *, **options)
        mode = options[:mode] || mode
        creates = mode.is_a?(Integer) ? mode.anybits?(WRITES) : mode.to_s.start_with?("w", "a")
        creates ? written(path) : read(path)
      end

      def read(path = nil, *, **)
        hear(path) { |file| found.files[file] = true unless found.written[file] || HOUSEKEEPING.match?(nearest) }
      end

      # Data that comes by way of a cache.
      def cached(path)
        hear(path) { |file| found.files[file] = true } if @kind
      end

      # `load` and `require`, whoever stands before them.
      def code(path)
        hear(path) { |file| found.code[file] = true }
      end

      # Whether something is there: if the app's own code asks, it matters. It is a listing that can hold one name.
      def looked_for(path = nil, *)
        path = text(path)
        return unless path && (path.start_with?(Coatepec.root) || !path.start_with?("/")) && own?(nearest)

        look_for(path)
      rescue *ODD
        nil
      end

      # The app may go on without code that it asked for and that is not there yet.
      def missed(error)
        return unless error.instance_of?(LoadError) && error.path && own?(asker)

        file = error.path.end_with?(".rb") ? error.path : "#{error.path}.rb"
        return look_for(file) if file.start_with?("/")

        $LOAD_PATH.map(&:to_s).reject { |dir| Boot.installed?("#{dir}/") }.each { |dir| look_for(File.join(dir, file)) }
      rescue *ODD
        nil
      end

      # What the load makes itself is not what it depends on.
      def written(path = nil, *, **)
        hear(path) { |file| found.written[file] = true }
      end

      def renamed(_from = nil, to = nil, *) = written(to)

      def listed(dir = nil, *, **) = searched("*", base: dir)

      def searched_all(*patterns, base: nil, **) = searched(patterns, base: base)

      def searched(patterns = nil, *, base: nil, **)
        base = text(base) || Dir.pwd
        texts = Array(patterns).filter_map { |pattern| text(pattern) }
        texts.flat_map { |pattern| Patterns.alternatives(pattern) }.each do |pattern|
          dir, rest = Patterns.apart(pattern, base)
          found.listings[[dir, rest]] = true unless foreign?("#{dir}/") || known?(dir)
        end
      rescue *ODD
        nil
      end

      private

      def begin_with(kind)
        @found ||= Hash.new { |found, name| found[name] = Found.empty }
        @found[kind] = Found.empty
        @kind = kind
        listen
      end

      def look_for(path)
        hear(path) do |file|
          name = File.basename(file).gsub(Patterns::WILD) { |special| "\\#{special}" }
          found.looked_for[[File.dirname(file), name]] = true unless found.written[file]
        end
      end

      # Ruby leaves such files out of backtraces, or at least shows them for what they are: not the app's.
      def give(ear, method) = ear.module_eval(method, "<internal:coatepec>", 1)

      def deafen
        @kind = nil
        @errors.disable
        # Ruby warns of what becomes of a class without `initialize`. It has its own.
        verbose = $VERBOSE
        $VERBOSE = nil
        [*WAYS.map { |way| way[1] }, @code_ear].compact.each { |ear| clear(ear) }
      ensure
        $VERBOSE = verbose
      end

      def clear(ear)
        names = ear.instance_methods(false) + ear.private_instance_methods(false)
        names.each { |name| ear.send(:remove_method, name) }
      end

      # Ruby asks here for each file of code, whoever loads it, and evaluates it afterwards: no backtrace tells of us.
      def listen_to_code
        return unless defined?(::RubyVM::InstructionSequence)

        loader = ::RubyVM::InstructionSequence.singleton_class
        unless loader.ancestors.first.equal?(@code_ear)
          clear(@code_ear) if @code_ear
          loader.prepend(@code_ear = Module.new)
        end
        give(@code_ear, "def load_iseq(path) = (::Coatepec::Traces.code(path); defined?(super) ? super : nil)")
      end

      # Nothing here may keep the app from reading.
      def hear(path)
        path = text(path)
        return if path.nil? || path.empty? || path.start_with?("|")

        file = File.absolute_path(path)
        yield file unless foreign?(file)
      rescue *ODD
        nil
      end

      # Whether code is the app's. ERB, and what is evaluated, often has no place; what is ours has no name here.
      def own?(path)
        return path.start_with?(Coatepec.root) && !Boot.installed?(path) if path.start_with?("/")

        !path.empty? && !path.start_with?("<")
      end

      def text(path) = String.try_convert(path.respond_to?(:to_path) ? path.to_path : path)

      def foreign?(file)
        own = [Coatepec.root, Boot.repository].compact.find { |dir| file.start_with?(dir) }
        (own && OUTPUT.match?(file.delete_prefix(own))) || SYSTEM.match?(file) || Boot.installed?(file)
      end

      def listings(found)
        near = [*found.listings.keys, *found.looked_for.keys].select { |dir, _| Boot.near?("#{dir}/") }
        near.first(LIMIT).map { |dir, pattern| { dir: dir, pattern: pattern } }
      end

      def found = @found.fetch(@kind)

      # Whether what is new there is noticed without this.
      def known?(dir)
        asks = nearest
        HOUSEKEEPING.match?(asks) || CATALOGUE.match?(asks) || (@kind == :classes && FACTORIES.match?(asks)) ||
          (PATHS.match?(asks) && PLACES.match?(dir) && !tasks?)
      end

      def tasks?
        Thread.each_caller_location { |frame| return true if frame.label.end_with?("load_tasks") }
        false
      end

      # Whose code asked.
      def nearest
        Thread.each_caller_location do |frame|
          path = frame.path.to_s
          return path unless path.start_with?("coatepec/", "<internal:")
        end
        ""
      end

      # The same, past what stands between it and Ruby.
      def asker
        Thread.each_caller_location do |frame|
          path = frame.path.to_s
          return path unless path.start_with?("coatepec/", "<internal:") || HOUSEKEEPING.match?(path)
        end
        ""
      end

      def bounded(files)
        return { files: files, dirs: [] } if files.size <= LIMIT

        { files: [], dirs: files.map { |path| File.dirname(path) }.uniq.first(LIMIT) }
      end
    end
  end
end
