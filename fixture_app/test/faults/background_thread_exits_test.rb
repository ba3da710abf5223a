# Has a thread that leaves by exit! while the second test waits.
require "test_helper"

class BackgroundThreadExitsTest < InOrder
  def test_1_passes = assert(true)

  def test_2_background_thread_exits
    Thread.new { exit!(0) }.join
  end

  def test_3_never_runs = assert(true)
end
