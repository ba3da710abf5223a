# Closes stdout, and fails.
require "test_helper"

class ClosesStdoutTest < InOrder
  def test_1_passes = assert(true)

  def test_2_closes = $stdout.close

  def test_3_fails = assert_equal(2, 1)
end
