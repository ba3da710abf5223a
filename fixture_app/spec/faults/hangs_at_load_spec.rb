# Sleeps for ever while it is loaded. Plain: hangs until TERM.
sleep

RSpec.describe "A spec that hangs at load" do
  it("never runs") { expect(1).to eq(1) }
end
