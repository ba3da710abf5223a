# Waits in C and keeps Ruby's global lock, so that no Ruby thread can run at all.
require "test_helper"
require "fiddle"

class HangsInCWithTheLockTest < InOrder
  def test_1_passes = assert(true)

  def test_2_locks_twice
    mutex = Fiddle::Pointer.malloc(128, Fiddle::RUBY_FREE)
    native("pthread_mutex_init").call(mutex, nil)
    2.times { native("pthread_mutex_lock").call(mutex, nil) }
  end

  def test_3_never_runs = assert(true)

  private

  def native(name)
    Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], [ Fiddle::TYPE_VOIDP ] * 2, Fiddle::TYPE_INT, need_gvl: true)
  end
end
