# Fails, and leaves with 0 all the same.
require "test_helper"

at_exit { exit(0) }

class ExitsWithZeroTest < InOrder
  def test_1_fails = assert_equal(2, 1)

  def test_2_passes = assert(true)
end
