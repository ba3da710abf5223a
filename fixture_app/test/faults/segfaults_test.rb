# Dies of SEGV in its second test.
require "test_helper"

class SegfaultsTest < InOrder
  def test_1_passes = assert(true)

  def test_2_segfaults
    Process.kill(:SEGV, Process.pid)
    sleep
  end

  def test_3_never_runs = assert(true)
end
