# Waits for every child it has: passes only if it has none but its own.
require "test_helper"

class WaitsForAllChildrenTest < InOrder
  def test_1_waits
    own = fork { exit!(0) }
    assert_equal [ own ], Process.waitall.map(&:first)
  end
end
