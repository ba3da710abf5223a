ENV["RAILS_ENV"] ||= "test"
require_relative "../config/environment"
require "rails/test_help"
require "factory_bot"

FactoryBot.definition_file_paths = [Rails.root.join("spec/factories")]
FactoryBot.find_definitions if FactoryBot.factories.none?

Rails.root.glob("test/support/**/*.rb").sort_by(&:to_s).each { |file| require file }

class ActiveSupport::TestCase
  # As `rails new` has it: a targeted run does without.
  parallelize(workers: 2, threshold: 2)

  include FactoryBot::Syntax::Methods
end
