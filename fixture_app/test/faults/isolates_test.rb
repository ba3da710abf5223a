# Runs each test in a process of its own, as ActiveSupport can.
require "test_helper"

class IsolatesTest < ActiveSupport::TestCase
  include ActiveSupport::Testing::Isolation

  RUN_BY = Process.pid

  test("elsewhere") { assert_not_equal RUN_BY, Process.pid }
  test("fails elsewhere") { assert_equal 2, 1 }
end
