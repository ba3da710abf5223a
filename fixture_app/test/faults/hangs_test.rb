# Sleeps for ever in its second test.
require "test_helper"

class HangsTest < InOrder
  def test_1_passes = assert(true)

  def test_2_hangs
    sleep
  end

  def test_3_never_runs = assert(true)
end
