# frozen_string_literal: true

# The smallest app that can be booted and tested.
require "rails"
require "action_controller/railtie"

class TinyApp < Rails::Application
  config.root = File.dirname(__dir__)
  config.logger = Logger.new(nil)
end

TinyApp.initialize!
