# Sends itself TERM inside an example. Plain: killed by TERM, 2 examples, 0 failures.
RSpec.describe "A spec that ends itself" do
  it("passes") { expect(1).to eq(1) }

  it "ends itself" do
    Process.kill(:TERM, Process.pid)
    sleep 1
  end

  it("never runs") { expect(1).to eq(1) }
end
