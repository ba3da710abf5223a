# Has one focused example, so that the helper's filter hides the other two. Plain: rc 0, 1 example.
RSpec.describe "A spec with a focused example" do
  it("is hidden") { raise "nobody sees this" }
  fit("is focused") { expect(1).to eq(1) }
  it("is hidden too") { raise "nor this" }
end
