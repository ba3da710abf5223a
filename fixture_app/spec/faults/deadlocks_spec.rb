# Deadlocks in Ruby, which Ruby notices. Plain: rc 1, 2 examples, 1 failure; with the app loaded (-r rails_helper), whose sleeping thread hides it, it hangs until TERM.
RSpec.describe "A spec that deadlocks" do
  it "waits for a lock that is never released" do
    lock = Mutex.new
    holder = Thread.new { lock.lock && Thread.stop }
    Thread.pass until holder.stop?
    lock.lock
  end

  it("passes") { expect(1).to eq(1) }
end
