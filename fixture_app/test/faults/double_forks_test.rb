# Passes, and leaves a process that was forked twice, as daemons are.
require "test_helper"

class DoubleForksTest < InOrder
  def test_1_starts_one
    middle = fork do
      Process.setsid
      fork { exec "sleep", "600", in: File::NULL, out: File::NULL, err: File::NULL }
      exit!(0)
    end
    Process.wait(middle)
  end

  def test_2_passes = assert(true)
end
