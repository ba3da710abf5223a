# Deadlocks in Ruby; the app's sleeping thread hides that from Ruby.
require "test_helper"

class DeadlocksTest < InOrder
  def test_1_passes = assert(true)

  def test_2_waits_for_a_lock_that_is_never_released
    lock = Mutex.new
    holder = Thread.new { lock.lock && Thread.stop }
    Thread.pass until holder.stop?
    lock.lock
  end

  def test_3_never_runs = assert(true)
end
