# Raises an exception whose message raises, on which Minitest itself breaks.
require "test_helper"

class MessageRaisesTest < InOrder
  SPEECHLESS = Class.new(StandardError) { def message = raise("no words") }

  def test_1_passes = assert(true)

  def test_2_raises = raise(SPEECHLESS)

  def test_3_passes = assert(true)
end
