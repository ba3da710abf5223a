# Exits with 0 inside an example. Plain: rc 0, 2 examples, 0 failures.
RSpec.describe "A spec that exits midway" do
  it("passes") { expect(1).to eq(1) }
  it("exits") { exit 0 }
  it("never runs") { expect(1).to eq(2) }
end
