# Kills the process that it was forked from; skipped where it was not forked from a warm one.
require "test_helper"

class KillsItsParentTest < InOrder
  def test_1_kills_its_parent
    skip "its parent may be your shell" unless ENV["COATEPEC_MODE"] == "fork"
    Process.kill(:KILL, Process.ppid)
    assert true
  end
end
