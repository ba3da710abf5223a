require_relative "boot"

require "rails"
require "active_model/railtie"
require "active_job/railtie"
require "active_record/railtie"
require "action_controller/railtie"
require "action_mailer/railtie"
require "action_view/railtie"
require "action_cable/engine"

Bundler.require(*Rails.groups)

module Widgetry
  class Application < Rails::Application
    config.load_defaults Rails::VERSION::STRING.to_f

    # Every folder below packs/*/app is autoloaded like one below app/.
    config.paths.add "packs", glob: "*/app/{*,*/concerns}", eager_load: true

    config.i18n.available_locales = %i[en nl]
    config.active_job.queue_adapter = :async
    config.generators.system_tests = nil
  end
end
