# Raises after the example in an around hook; another hook forgets to run its example. Plain: rc 1, 2 examples, 1 failure, 1 pending.
RSpec.describe "A spec that fails in an around hook" do
  context "when the hook raises afterwards" do
    around do |example|
      example.run
      raise "too late"
    end

    it("fails all the same") { expect(1).to eq(1) }
  end

  context "when the hook forgets the example" do
    around { |_example| nil }

    it("does not run") { raise "nobody gets here" }
  end
end
