# Raises NoMemoryError, which RSpec does not rescue. Plain: rc 1, 2 examples, 0 failures.
RSpec.describe "A spec out of memory" do
  it("passes") { expect(1).to eq(1) }
  it("runs out") { raise NoMemoryError, "failed to allocate memory" }
  it("never runs") { expect(1).to eq(1) }
end
