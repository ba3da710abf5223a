# Waits for a line from stdin, and stops at a breakpoint. Plain: rc 0, 3 examples, with stdin from /dev/null.
RSpec.describe "A spec that asks a person" do
  it("asks") { expect($stdin.gets).to be_nil }
  it("stops at a breakpoint") { binding.irb }
  it("passes") { expect(1).to eq(1) }
end
