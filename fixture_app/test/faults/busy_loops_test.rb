# Loops for ever in its second test.
require "test_helper"

class BusyLoopsTest < InOrder
  def test_1_passes = assert(true)

  def test_2_busy_loops
    loop { 1 + 1 }
  end

  def test_3_never_runs = assert(true)
end
