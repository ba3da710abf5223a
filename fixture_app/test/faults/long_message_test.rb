# Fails with a message of a megabyte.
require "test_helper"

class LongMessageTest < InOrder
  def test_1_passes = assert(true)

  def test_2_tells = flunk("a long story " * 80_000)
end
