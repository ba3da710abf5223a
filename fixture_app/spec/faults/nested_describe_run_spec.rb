# Defines and runs another group inside an example. Plain: rc 1, 3 examples, 1 failure.
RSpec.describe "A spec that runs a spec" do
  it "runs one that fails" do
    RSpec.describe("the inner one") { it("fails") { expect(1).to eq(2) } }.run
  end

  it("passes") { expect(1).to eq(1) }
end
