# frozen_string_literal: true

module Coatepec
  # The databases that tests use. Runs that share one take turns, also with other checkouts and servers.
  module Databases
    # What it is, where it listens unless told otherwise, and which adapters speak to it.
    SERVERS = [["postgresql", 5432, /postg/], ["mysql", 3306, /mysql|trilogy/]].freeze

    class << self
      # Whether the app has the code that speaks to them. To ask does not load it.
      def used? = defined?(::ActiveRecord) && ::ActiveRecord.respond_to?(:autoload?) && !::ActiveRecord.autoload?(:Base)

      # Who shares a database shares this name; no password, no user.
      def names
        return [] unless defined?(::ActiveRecord::Base)

        ::ActiveRecord::Base.configurations.configs_for(env_name: "test").map { |config| database_name(config) }.uniq
      rescue StandardError
        []
      end

      private

      def database_name(config)
        config.adapter.match?(/sqlite/) ? file_name(config.database.to_s) : server_name(config)
      end

      # The file itself, by whatever link a worktree leads to it.
      def file_name(database)
        return "sqlite:memory:#{Process.pid}" if database.match?(/:memory:|mode=memory/) || database.empty?

        path = File.expand_path(database.delete_prefix("file:").sub(/\?.*/m, ""), Rails.root)
        "sqlite:#{real_path(path)}"
      end

      def real_path(path)
        File.realdirpath(path)
      rescue SystemCallError
        path # Not even its directory is there yet.
      end

      # One server has several names on its own machine, and its port need not be told.
      def server_name(config)
        settings = config.configuration_hash
        kind, port = SERVERS.find { |_kind, _port, adapters| config.adapter.match?(adapters) } || [config.adapter]
        host = settings[:host].to_s
        host = "localhost" if host.empty? || host.start_with?("/", "127.") || host == "::1"
        "#{kind}:#{host}:#{settings[:port] || port}:#{config.database}"
      end
    end
  end
end
