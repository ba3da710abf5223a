# Passes, and has required a part of Minitest that asks the first reporter where it prints to.
require "test_helper"
require "minitest/benchmark"

class RequiresBenchmarkTest < InOrder
  def test_1_passes = assert_equal(1, 1)
end
