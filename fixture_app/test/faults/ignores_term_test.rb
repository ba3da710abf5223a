# Ignores TERM and sleeps for ever.
require "test_helper"

class IgnoresTermTest < InOrder
  def test_1_passes = assert(true)

  def test_2_ignores_term
    trap("TERM", "IGNORE")
    loop { sleep 1 }
  end

  def test_3_never_runs = assert(true)
end
