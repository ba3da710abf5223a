# Sleeps for ever in an at_exit handler.
require "test_helper"

at_exit { sleep }

class HangsAtExitTest < InOrder
  def test_passes = assert(true)
end
