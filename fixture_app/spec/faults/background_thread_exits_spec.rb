# Exits with 0 from a background thread, in the middle of an example. Plain: rc 0, 2 examples.
RSpec.describe "A spec with a thread that exits" do
  it("passes") { expect(1).to eq(1) }

  it "waits for its thread" do
    Thread.new { exit 0 }.join
    sleep 1
  end

  it("never runs") { expect(1).to eq(2) }
end
