# Empties the environment. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec that empties the environment" do
  it("empties") { ENV.clear }
  it("fails") { expect(ENV.fetch("PATH", nil)).to eq("/bin") }
end
