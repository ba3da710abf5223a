# Raises in a before hook; one of two groups is spared. Plain: rc 1, 3 examples, 2 failures.
RSpec.describe "A spec that fails in a before hook" do
  context "with the hook" do
    before { raise "no widget for anybody" }

    it("is first") { expect(1).to eq(1) }
    it("is second") { expect(2).to eq(2) }
  end

  context "without it" do
    it("is spared") { expect(3).to eq(3) }
  end
end
