# Has a child in a session of its own; both ignore TERM and sleep for ever. Plain: hangs until KILL, and its child stays.
RSpec.describe "A spec that ignores TERM, with a child that does too" do
  it("passes") { expect(1).to eq(1) }

  it "ignores TERM" do
    trap("TERM", "IGNORE")
    fork do
      Process.setsid
      loop { sleep 1 }
    end
    loop { sleep 1 }
  end

  it("never runs") { expect(1).to eq(1) }
end
