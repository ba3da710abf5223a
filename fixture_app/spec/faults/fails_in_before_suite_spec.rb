# Raises in before(:suite): nothing runs. Plain: rc 1, 0 examples, 0 failures, 1 error outside.
RSpec.configure do |config|
  config.before(:suite) { raise "no suite today" }
end

RSpec.describe "A spec that fails in before(:suite)" do
  it("never runs") { expect(1).to eq(1) }
end
