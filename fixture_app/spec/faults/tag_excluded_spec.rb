# Excludes its own slow examples, the only ones that would fail. Plain: rc 0, 1 example.
RSpec.configure do |config|
  config.filter_run_excluding :slow
end

RSpec.describe "A spec with examples excluded by a tag" do
  it("is quick") { expect(1).to eq(1) }
  it("is slow", :slow) { raise "nobody waits for this" }
end
