# Opens the test database beside Rails, in a child too.
require "test_helper"

class RawSqliteHandleTest < ActiveSupport::TestCase
  setup { @database = SQLite3::Database.new(Widget.connection_db_config.database) }

  teardown { @database.close }

  test "does not see what the transaction holds back" do
    create(:widget)

    assert_equal 0, @database.get_first_value("SELECT count(*) FROM widgets")
  end

  test "opens another in a child" do
    child = fork { exit!(SQLite3::Database.new(Widget.connection_db_config.database).get_first_value("SELECT 1") == 1) }
    Process.wait(child)

    assert_predicate $?, :success?
  end
end
