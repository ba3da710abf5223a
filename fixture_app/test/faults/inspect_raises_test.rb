# Compares an object whose inspect raises.
require "test_helper"

class InspectRaisesTest < InOrder
  SHY = Class.new { def inspect = raise("do not look") }

  def test_1_passes = assert(true)

  def test_2_compares = assert_equal(1, SHY.new)

  def test_3_passes = assert(true)
end
