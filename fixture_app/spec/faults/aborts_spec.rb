# Dies of ABRT inside an example, as C code does that gives up. Plain: killed by ABRT, no output.
RSpec.describe "A spec that calls abort() in C" do
  it("passes") { expect(1).to eq(1) }

  it "crashes" do
    Process.kill(:ABRT, Process.pid)
    sleep
  end

  it("never runs") { expect(1).to eq(1) }
end
