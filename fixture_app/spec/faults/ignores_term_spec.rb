# Ignores TERM and sleeps for ever. Plain: hangs until KILL.
RSpec.describe "A spec that ignores TERM" do
  it("passes") { expect(1).to eq(1) }

  it "ignores TERM" do
    trap("TERM", "IGNORE")
    loop { sleep 1 }
  end

  it("never runs") { expect(1).to eq(1) }
end
