# Sends TERM to its whole process group.
require "test_helper"

class KillsItsGroupTest < InOrder
  def test_1_passes = assert(true)

  def test_2_ends_everybody
    Process.kill(:TERM, 0)
    sleep 1
  end

  def test_3_never_runs = assert(true)
end
