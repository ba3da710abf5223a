# Dies of SEGV only in a run that was forked from a warm process.
require "test_helper"

class CrashesOnlyInForkTest < InOrder
  def test_1_passes = assert(true)

  def test_2_crashes_in_a_fork
    Process.kill(:SEGV, Process.pid) if ENV["COATEPEC_MODE"] == "fork"
    assert_equal 2, 2
  end
end
