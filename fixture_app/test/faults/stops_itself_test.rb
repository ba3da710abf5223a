# Stops itself in its second test.
require "test_helper"

class StopsItselfTest < InOrder
  def test_1_passes = assert(true)

  def test_2_stops_itself
    Process.kill(:STOP, Process.pid)
  end

  def test_3_never_runs = assert(true)
end
