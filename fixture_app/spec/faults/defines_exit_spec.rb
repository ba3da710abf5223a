# Passes, and has defined an `exit` for all objects, as a stub that is never taken back. Plain: rc 0, 1 example.
class Object
  def exit(code = 0) = raise("exit was called with #{code}")
end

RSpec.describe "A spec that keeps the exit shut" do
  it("passes") { expect(1).to eq(1) }
end
