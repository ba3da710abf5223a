# Waits in C and keeps Ruby's global lock, so that no Ruby thread can run at all. Plain: hangs until KILL.
require "fiddle"

RSpec.describe "A spec that hangs in C and lets nobody else run" do
  def native(name)
    Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], [ Fiddle::TYPE_VOIDP ] * 2, Fiddle::TYPE_INT, need_gvl: true)
  end

  it("passes") { expect(1).to eq(1) }

  it "locks twice" do
    mutex = Fiddle::Pointer.malloc(128, Fiddle::RUBY_FREE)
    native("pthread_mutex_init").call(mutex, nil)
    2.times { native("pthread_mutex_lock").call(mutex, nil) }
  end

  it("never runs") { expect(1).to eq(1) }
end
