# Passes, then dies of SEGV in a finalizer, as some C libraries do at exit.
require "test_helper"

HELD_UNTIL_EXIT = Object.new
ObjectSpace.define_finalizer(HELD_UNTIL_EXIT, proc { Process.kill(:SEGV, Process.pid) })

class FinalizerSegfaultsTest < InOrder
  def test_1_passes = assert(true)
end
