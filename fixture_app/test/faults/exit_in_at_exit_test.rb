# Passes, and an at_exit handler changes the status to 3.
require "test_helper"

at_exit { exit 3 }

class ExitInAtExitTest < InOrder
  def test_passes = assert(true)
end
