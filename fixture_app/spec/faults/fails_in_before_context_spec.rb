# Raises in before(:context): every example fails by it. Plain: rc 1, 2 examples, 2 failures.
RSpec.describe "A spec that fails in before(:context)" do
  before(:context) { raise "the shop is closed" }

  it("is first") { expect(1).to eq(1) }
  it("is second") { expect(2).to eq(2) }
end
