# Leaves by exit! with status 0 in its second test.
require "test_helper"

class ExitsBangMidwayTest < InOrder
  def test_1_passes = assert(true)

  def test_2_exits_bang_midway
    exit!(0)
  end

  def test_3_never_runs = assert(true)
end
