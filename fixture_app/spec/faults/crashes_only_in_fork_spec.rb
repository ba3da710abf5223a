# Dies of SEGV only in a run that was forked from a warm process. Plain: rc 0, 2 examples.
RSpec.describe "A spec that crashes only in a fork" do
  it("passes") { expect(1).to eq(1) }

  it "crashes in a fork" do
    Process.kill(:SEGV, Process.pid) if ENV["COATEPEC_MODE"] == "fork"
    expect(2).to eq(2)
  end
end
