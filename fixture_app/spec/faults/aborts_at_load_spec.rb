# Aborts with a message while it is loaded. Plain: rc 1, no summary.
abort "this spec needs a printer"

RSpec.describe "A spec that aborts at load" do
  it("never runs") { expect(1).to eq(2) }
end
