# Passes, and what is to run after all tests raises.
require "test_helper"

Minitest.after_run { raise "after the run" }

class RaisesAfterRunTest < InOrder
  def test_passes = assert(true)
end
