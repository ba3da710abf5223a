# Sends TERM to its whole process group. Plain: killed by TERM, 2 examples, 0 failures.
RSpec.describe "A spec that ends its group" do
  it("passes") { expect(1).to eq(1) }

  it "ends everybody" do
    Process.kill(:TERM, 0)
    sleep 1
  end

  it("never runs") { expect(1).to eq(1) }
end
