# Aborts with a message inside an example. Plain: rc 1, 2 examples, 0 failures.
RSpec.describe "A spec that aborts midway" do
  it("passes") { expect(1).to eq(1) }
  it("aborts") { abort "out of paper" }
  it("never runs") { expect(1).to eq(2) }
end
