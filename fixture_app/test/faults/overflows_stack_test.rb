# Recurses without end.
require "test_helper"

class OverflowsStackTest < InOrder
  def deeper(depth) = deeper(depth + 1)

  def test_1_goes_too_deep = deeper(0)

  def test_2_passes = assert(true)
end
