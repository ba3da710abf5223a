# Dies of SEGV inside an example. Plain: killed by SEGV, 55 KB on stderr, no output.
RSpec.describe "A spec that segfaults" do
  it("passes") { expect(1).to eq(1) }
  it("crashes") { Process.kill(:SEGV, Process.pid) }
  it("never runs") { expect(1).to eq(1) }
end
