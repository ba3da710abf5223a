# Waits in C for a lock that is never released; no Ruby handler can run in that thread. Plain: hangs until KILL.
require "fiddle"

RSpec.describe "A spec that hangs in C" do
  def native(name)
    Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], [ Fiddle::TYPE_VOIDP ] * 2, Fiddle::TYPE_INT)
  end

  it("passes") { expect(1).to eq(1) }

  it "locks twice" do
    mutex = Fiddle::Pointer.malloc(128, Fiddle::RUBY_FREE)
    native("pthread_mutex_init").call(mutex, nil)
    2.times { native("pthread_mutex_lock").call(mutex, nil) }
  end

  it("never runs") { expect(1).to eq(1) }
end
