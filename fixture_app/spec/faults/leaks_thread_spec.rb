# Passes, and leaves a thread that never ends. Plain: rc 0, 2 examples.
RSpec.describe "A spec that leaks a thread" do
  it("starts one") { Thread.new { sleep }.name = "left behind" }
  it("passes") { expect(1).to eq(1) }
end
