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

      # The kernel's list has the threads of C libraries, too, which Ruby does not know.
      def native
        Dir.glob("/proc/self/task/*/comm").map { |path| Json.text(File.read(path).strip) }
      rescue SystemCallError
        []
      end

      private

      def created_at(thread) = thread.inspect[/\A#<\S+ (.+) \S+>\z/, 1].to_s.delete_prefix(Coatepec.root)

      # Without a constant to go by: whether any file of the gem was loaded.
      def loaded?(gem, constant)
        return defined_without_loading?(constant) if constant

        paths = Gem.loaded_specs[gem]&.full_require_paths
        paths&.any? { |path| $LOADED_FEATURES.any? { |feature| feature.start_with?("#{path}/") } }
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
