# Compares an object whose inspect raises. Plain: rc 1, 3 examples, 1 failure.
RSpec.describe "A spec with an object that does not show itself" do
  shy = Class.new do
    def inspect
      raise "do not look"
    end
  end

  it("passes first") { expect(1).to eq(1) }
  it("compares") { expect(shy.new).to eq(1) }
  it("passes last") { expect(1).to eq(1) }
end
