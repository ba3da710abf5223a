# Says something after all tests, once.
require "test_helper"

Minitest.after_run { puts "after the run" }

class PrintsAfterRunTest < InOrder
  def test_passes = assert(true)
end
