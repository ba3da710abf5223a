# Waits for every child it has: passes only if it has none but its own. Plain: rc 0, 1 example.
RSpec.describe "A spec that waits for all its children" do
  it "waits" do
    own = fork { exit!(0) }
    expect(Process.waitall.map(&:first)).to eq([ own ])
  end
end
