# Holds the write lock of the test database: what Rails writes then fails after its timeout of 5 s. Plain: rc 1, 2 examples, 1 failure.
require "rails_helper"

RSpec.describe "A spec that locks the database" do
  # In a transaction that has read already, SQLite would not wait.
  self.use_transactional_tests = false

  before(:context) do
    @handle = SQLite3::Database.new(Supplier.connection_db_config.database)
    @handle.execute("BEGIN IMMEDIATE")
  end

  after(:context) { @handle.close }

  it("cannot write") { create(:supplier) }
  it("can read") { expect(Supplier.count).to eq(0) }
end
