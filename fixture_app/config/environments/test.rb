Rails.application.configure do
  # One process, one run: nothing is reloaded, and only CI pays for loading all.
  config.enable_reloading = false
  config.eager_load = ENV["CI"].present?

  config.log_level = ENV.fetch("LOG_LEVEL", "warn").to_sym
  config.consider_all_requests_local = true
  config.cache_store = :null_store
  config.action_dispatch.show_exceptions = :rescuable
  config.action_controller.allow_forgery_protection = false
  config.action_controller.raise_on_missing_callback_actions = true
  config.action_mailer.delivery_method = :test
  config.action_mailer.default_url_options = { host: "widgets.test" }
  config.active_job.queue_adapter = :test
  config.active_support.deprecation = :stderr
  config.i18n.raise_on_missing_translations = true
end
