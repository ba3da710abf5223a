# Calls abort in its second test.
require "test_helper"

class AbortsMidwayTest < InOrder
  def test_1_passes = assert(true)

  def test_2_aborts_midway
    abort "enough"
  end

  def test_3_never_runs = assert(true)
end
