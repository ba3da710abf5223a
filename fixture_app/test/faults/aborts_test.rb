# Dies of ABRT in its second test.
require "test_helper"

class AbortsTest < InOrder
  def test_1_passes = assert(true)

  def test_2_aborts
    Process.kill(:ABRT, Process.pid)
    sleep
  end

  def test_3_never_runs = assert(true)
end
