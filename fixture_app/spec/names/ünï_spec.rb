RSpec.describe "A spec in a file with letters beyond ASCII in its name" do
  it("is first") { expect(1).to eq(1) }
  it("is second") { expect(2).to eq(2) }
end
