# Leaves a process in a session of its own that holds stdout for 10 minutes.
require "test_helper"

class LeaksGrandchildTest < InOrder
  def test_1_passes = assert(true)

  def test_2_starts_one_and_forgets_it
    fork do
      Process.setsid
      exec "sleep", "600"
    end
  end
end
