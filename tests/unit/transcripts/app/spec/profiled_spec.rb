# frozen_string_literal: true

require "active_support"
require "active_support/notifications"

# As much of an app with a database and factories as can be asked where its time goes.
module ActiveRecord
  class Base; end
end

module FactoryBot
end

def query(sql, **more)
  ActiveSupport::Notifications.instrument("sql.active_record", { sql: sql, **more })
end

def factory(name, strategy, &)
  ActiveSupport::Notifications.instrument("factory_bot.run_factory", { name: name, strategy: strategy }, &)
end

RSpec.describe "Profiled" do
  it "asks a lot" do
    factory(:cart, :create) { factory(:cart, :build) { query("INSERT INTO owners VALUES ('Ada')") } }
    query("SELECT 'Ada'", cached: true)
    query("BEGIN", name: "TRANSACTION")
  end

  it("asks nothing") { nil }
end
