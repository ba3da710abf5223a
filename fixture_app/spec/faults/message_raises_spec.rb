# Raises an exception whose message raises. Plain: rc 1, 3 examples, 1 failure.
RSpec.describe "A spec with an exception that does not say" do
  speechless = Class.new(StandardError) do
    def message
      raise "no words"
    end
  end

  it("passes first") { expect(1).to eq(1) }
  it("raises") { raise speechless }
  it("passes last") { expect(1).to eq(1) }
end
