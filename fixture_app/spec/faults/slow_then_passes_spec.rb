# Takes SLOW_SECONDS (2), then passes. Plain: rc 0, 2 examples.
RSpec.describe "A spec that takes its time" do
  it("is quick") { expect(1).to eq(1) }
  it("is slow") { sleep ENV.fetch("SLOW_SECONDS", 2).to_f }
end
