# Raises Interrupt, which Minitest does not rescue.
require "test_helper"

class RaisesInterruptTest < InOrder
  def test_1_passes = assert(true)

  def test_2_raises = raise(Interrupt)

  def test_3_never_runs = assert(true)
end
