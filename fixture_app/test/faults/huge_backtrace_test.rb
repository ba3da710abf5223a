# Raises from 5,000 frames down.
require "test_helper"

class HugeBacktraceTest < InOrder
  def dig(depth) = depth.zero? ? raise("found it") : dig(depth - 1)

  def test_1_digs = dig(5_000)

  def test_2_passes = assert(true)
end
