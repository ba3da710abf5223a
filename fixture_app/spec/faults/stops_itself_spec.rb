# Stops itself (SIGSTOP) inside an example. Plain: stops until somebody continues it.
RSpec.describe "A spec that stops itself" do
  it("passes") { expect(1).to eq(1) }
  it("stops") { Process.kill(:STOP, Process.pid) }
  it("waits to be continued") { expect(1).to eq(1) }
end
