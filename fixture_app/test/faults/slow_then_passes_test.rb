# Takes SLOW_SECONDS (2), then passes.
require "test_helper"

class SlowThenPassesTest < InOrder
  def test_1_is_quick = assert(true)

  def test_2_is_slow = sleep(ENV.fetch("SLOW_SECONDS", 2).to_f)
end
