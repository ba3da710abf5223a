# Fails with a message of 1 MB. Plain: rc 1, 3 examples, 2 failures.
RSpec.describe "A spec with much to say" do
  it("says it") { raise "a long story. " * 75_000 }
  it("compares much") { expect("line\n" * 20_000).to eq("line\n" * 20_001) }
  it("passes") { expect(1).to eq(1) }
end
