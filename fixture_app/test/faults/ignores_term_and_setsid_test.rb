# Has a child in a session of its own; both ignore TERM and sleep for ever.
require "test_helper"

class IgnoresTermAndSetsidTest < InOrder
  def test_1_passes = assert(true)

  def test_2_ignores_term
    trap("TERM", "IGNORE")
    fork do
      Process.setsid
      loop { sleep 1 }
    end
    loop { sleep 1 }
  end

  def test_3_never_runs = assert(true)
end
