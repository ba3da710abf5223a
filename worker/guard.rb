# frozen_string_literal: true

module Coatepec
  # What decides whether forking is safe at this moment: threads, and gems whose native side does not survive it.
  module Guard
    # How to see that a gem has something running, which its mere presence does not say.
    LIVE = {
      "eventmachine" => -> { ::EventMachine.reactor_running? },
      "launchdarkly-server-sdk" => -> { any?(::LaunchDarkly::LDClient) },
      "mongo" => -> { any?(::Mongo::Client) },
      "onnxruntime" => -> { any?(::OnnxRuntime::InferenceSession) },
      "rdkafka" => -> { any?(::Rdkafka::Producer) || any?(::Rdkafka::Consumer) },
      "karafka-rdkafka" => -> { any?(::Rdkafka::Producer) || any?(::Rdkafka::Consumer) },
      "ddtrace" => -> { threads.any? { |name| name.match?(/datadog|ddtrace/i) } },
      "datadog" => -> { threads.any? { |name| name.match?(/datadog|ddtrace/i) } }
    }.freeze

    class << self
      # `gems`: name and, where one is known, the constant that proves its code to be loaded.
      def facts(gems)
        loaded = gems.select { |gem| loaded?(gem[:gem], gem[:constant]) }.map { |gem| gem[:gem] }.uniq
        { threads: threads, native: native, loaded: loaded, live: loaded.select { |gem| live?(gem) } }
      end

      # By name, else by where they were started: "spec/support/poller.rb:4".
      def threads
        (Thread.list - [Thread.main]).map { |thread| Json.text(thread.name || created_at(thread)) }
      end

      # Whether the app's own code has started any that are still there.
      def own_threads?
        (Thread.list - [Thread.main]).any? do |thread|
          file = File.expand_path(created_at(thread)[/\A.+(?=:\d)/].to_s, Coatepec.root)
          File.file?(file) && Boot.near?(file) && !Boot.installed?(file)
        end
      end

      # Whether there are any that a boot may want to hear of again.
      def children?
        tasks = Dir.glob("/proc/self/task/*/children")
        tasks.any? { |file| !File.read(file).empty? }
      rescue SystemCallError
        false
      end

      # Only the first one of a thread has no place where it begins.
      def fiber? = Fiber.current.inspect.match?(/:\d+ \(\w+\)>\z/)

      # Threads of C libraries, which only the kernel knows, by the name that it has for them: often that of the
      # process, as has the one by which Ruby itself keeps time.
      def native
        own = Thread.list.map { |thread| thread.native_thread_id.to_s }
        names = (Dir.children("/proc/self/task") - own).filter_map { |task| task_name(task) }
        names.delete_at(names.index(task_name(Process.pid)) || names.size)
        names
      rescue SystemCallError, NotImplementedError
        []
      end

      private

      # Gone between the list and the look: no thread any more.
      def task_name(task)
        Json.text(File.read("/proc/self/task/#{task}/comm").strip)
      rescue SystemCallError
        nil
      end

      def created_at(thread) = thread.inspect[/\A#<[^ @]+(?:@.*)? (.+:\d+) \S+>\z/, 1].to_s.delete_prefix(Coatepec.root)

      # A gem in the bundle may never be required, and a class of the app may have the name of a gem's. Without a
      # constant to go by: whether any file of the gem was loaded.
      def loaded?(gem, constant)
        spec = Gem.loaded_specs[gem] or return false
        return defined_without_loading?(constant) if constant

        spec.full_require_paths.any? { |path| $LOADED_FEATURES.any? { |feature| feature.start_with?("#{path}/") } }
      end

      def defined_without_loading?(name) = Object.autoload?(name).nil? && Object.const_defined?(name, false)

      def live?(gem)
        probe = LIVE[gem]
        probe ? !!instance_exec(&probe) : false
      rescue StandardError, ScriptError
        false
      end

      def any?(klass) = ObjectSpace.each_object(klass).any?
    end
  end
end
