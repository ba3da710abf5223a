# Fails at random, about every other time. Plain: rc 0 or 1.
RSpec.describe "A spec that flips a coin" do
  it("wants heads") { expect(rand).to be < 0.5 }
  it("passes") { expect(1).to eq(1) }
end
