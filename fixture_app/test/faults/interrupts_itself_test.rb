# Sends itself INT in its second test: Minitest stops there, and says that nothing failed.
require "test_helper"

class InterruptsItselfTest < InOrder
  def test_1_passes = assert(true)

  def test_2_interrupts_itself
    Process.kill(:INT, Process.pid)
    sleep 1
  end

  def test_3_never_runs = assert(true)
end
