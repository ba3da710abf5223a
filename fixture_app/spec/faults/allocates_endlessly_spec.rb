# Takes memory until it is stopped, or has ALLOCATE_MB (2048). Plain: rc 1, 3 examples, 1 failure.
RSpec.describe "A spec that takes all memory" do
  it("passes") { expect(1).to eq(1) }

  it "takes and takes" do
    limit = ENV.fetch("ALLOCATE_MB", 2_048).to_i
    taken = []
    taken << ("x" * 1_048_576) until taken.size >= limit
    raise "nobody stopped me at #{limit} MB"
  end

  it("never runs if it was stopped") { expect(1).to eq(1) }
end
