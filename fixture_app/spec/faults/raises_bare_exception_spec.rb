# Raises Exception itself, which RSpec does rescue. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec that raises Exception" do
  it("raises") { raise Exception, "as bare as can be" }
  it("passes") { expect(1).to eq(1) }
end
