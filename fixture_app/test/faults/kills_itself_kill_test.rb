# Sends itself KILL in its second test.
require "test_helper"

class KillsItselfKillTest < InOrder
  def test_1_passes = assert(true)

  def test_2_kills_itself_kill
    Process.kill(:KILL, Process.pid)
    sleep 1
  end

  def test_3_never_runs = assert(true)
end
