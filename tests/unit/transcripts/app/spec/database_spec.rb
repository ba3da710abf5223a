# frozen_string_literal: true

# As much of an app with a database as tells which one it is.
module ActiveRecord
  class Base
    Config = Struct.new(:adapter, :database, :configuration_hash)

    def self.configurations = self

    def self.configs_for(env_name:) = [Config.new("postgis", "shop_#{env_name}", { host: "127.0.0.1" })]
  end
end

RSpec.describe "Database" do
  it("works") { expect(1).to eq(1) }
end
