# Loops for ever without sleeping. Plain: hangs until TERM.
RSpec.describe "A spec that spins" do
  it("passes") { expect(1).to eq(1) }
  it("spins") { loop { nil } }
  it("never runs") { expect(1).to eq(1) }
end
