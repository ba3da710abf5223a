# Raises an exception of a class without a name. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec with an exception without a name" do
  it("raises") { raise Class.new(StandardError), "of no class" }
  it("passes") { expect(1).to eq(1) }
end
