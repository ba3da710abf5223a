# Has an at_exit handler and a child by fork: the handler runs in both.
require "test_helper"

at_exit { puts "at exit" }

class RunsAtExitInAForkTest < InOrder
  def test_forks_and_waits
    Process.wait(fork { nil })
    assert_predicate $?, :success?
  end
end
