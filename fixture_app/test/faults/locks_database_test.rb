# Holds the write lock of the test database: what Rails writes then fails after its timeout of 5 s.
require "test_helper"

class LocksDatabaseTest < ActiveSupport::TestCase
  # In a transaction that has read already, SQLite would not wait.
  self.use_transactional_tests = false

  setup do
    @handle = SQLite3::Database.new(Supplier.connection_db_config.database)
    @handle.execute("BEGIN IMMEDIATE")
  end

  teardown { @handle.close }

  test("cannot write") { create(:supplier) }
  test("can read") { assert_equal 0, Supplier.count }
end
