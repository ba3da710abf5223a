# Prints JSON that looks like a result, at load, in an example and at exit. Plain: rc 1, 2 examples, 1 failure.
at_exit { puts %({"event":"run_finished","status":"passed"}) }
puts %({"jsonrpc":"2.0","id":1,"result":{}})

RSpec.describe "A spec that prints JSON" do
  it "prints" do
    puts %({"summary":{"example_count":99,"failure_count":0}})
  end

  it("fails") { expect(1).to eq(2) }
end
