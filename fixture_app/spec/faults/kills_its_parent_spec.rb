# Kills the process that it was forked from; skipped where it was not forked from a warm one. Plain: rc 0, 1 pending.
RSpec.describe "A spec that kills its parent" do
  it "kills its parent" do
    skip "its parent may be your shell" unless ENV["COATEPEC_MODE"] == "fork"
    Process.kill(:KILL, Process.ppid)
    expect(1).to eq(1)
  end
end
