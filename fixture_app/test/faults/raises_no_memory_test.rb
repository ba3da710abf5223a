# Runs out of memory in its second test, which Minitest does not rescue.
require "test_helper"

class RaisesNoMemoryTest < InOrder
  def test_1_passes = assert(true)

  def test_2_raises_no_memory
    raise NoMemoryError, "failed to allocate memory"
  end

  def test_3_never_runs = assert(true)
end
