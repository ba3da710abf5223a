# Throws a symbol that nobody catches.
require "test_helper"

class ThrowsTest < InOrder
  def test_1_throws = throw(:nope)

  def test_2_passes = assert(true)
end
