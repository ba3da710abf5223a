# Raises from 5,000 frames down. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec with a deep failure" do
  def dig(depth)
    depth.zero? ? raise("found it") : dig(depth - 1)
  end

  it("digs") { dig(5_000) }
  it("passes") { expect(1).to eq(1) }
end
