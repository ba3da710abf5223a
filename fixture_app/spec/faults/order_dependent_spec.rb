# Has a victim that fails when the polluter ran before it; the order follows the seed. Plain: rc 0 or 1, 4 examples, by the seed.
RSpec.describe "A spec that depends on its order", order: :random do
  polluted = false

  it("is a bystander") { expect(1).to eq(1) }
  it("pollutes") { polluted = true }
  it("is another bystander") { expect(1).to eq(1) }
  it("is the victim") { expect(polluted).to be(false) }
end
