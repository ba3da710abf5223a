# Forks without a block: from there on two processes run the rest. Plain: rc 0, 3 examples, 0 failures; its copy prints a summary with 1 failure.
RSpec.describe "A spec that becomes two" do
  it("passes") { expect(1).to eq(1) }
  it("forks") { @child = fork }
  it("fails in one of them") { expect(Process.pid).to eq(RUN_BY) }

  RUN_BY = Process.pid
end
