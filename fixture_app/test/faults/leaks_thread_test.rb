# Leaves a thread behind that never ends.
require "test_helper"

class LeaksThreadTest < InOrder
  def test_1_passes = assert(true)

  def test_2_starts_one = Thread.new { sleep }
end
