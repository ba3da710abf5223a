# Recurses without end: SystemStackError with a very long backtrace. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec that goes too deep" do
  def deeper(depth)
    deeper(depth + 1)
  end

  it("goes too deep") { deeper(0) }
  it("passes") { expect(1).to eq(1) }
end
