# Is not Ruby. Plain: rc 1, 0 examples, 0 failures, 1 error outside.
RSpec.describe "A spec that is not Ruby" do
  it "never closes" do
    expect([ 1, 2 ).to eq(3)
  end
