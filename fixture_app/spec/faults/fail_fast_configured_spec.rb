# Stops at its first failure; two examples never run. Plain: rc 1, 2 examples, 1 failure.
RSpec.configuration.fail_fast = 1

RSpec.describe "A spec that stops at its first failure" do
  it("passes") { expect(1).to eq(1) }
  it("fails") { expect(1).to eq(2) }
  it("never runs") { expect(1).to eq(1) }
  it("never runs either") { expect(1).to eq(1) }
end
