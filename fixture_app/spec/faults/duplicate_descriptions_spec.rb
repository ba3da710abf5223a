# Has examples with the same description; one of them fails. Plain: rc 1, 4 examples, 2 failures.
RSpec.describe "A spec with twins" do
  it("is a twin") { expect(1).to eq(1) }
  it("is a twin") { expect(1).to eq(2) }

  2.times do |n|
    it("comes from one line") { expect(n).to eq(0) }
  end
end
