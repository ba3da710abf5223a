# Requires a file that does not exist. Plain: rc 1, 0 examples, 0 failures, 1 error outside.
require "no/such/helper"

RSpec.describe "A spec that requires too much" do
  it("never runs") { expect(1).to eq(1) }
end
