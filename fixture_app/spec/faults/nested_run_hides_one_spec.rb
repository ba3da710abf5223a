# Runs a group of its own inside an example, and keeps the next one from running. Plain: rc 0, 2 examples, 0 failures.
RSpec.describe "A spec that runs another in the place of its own", order: :defined do
  it "runs one that passes, and takes the next one away" do |example|
    hidden = example.example_group.examples.last
    hidden.define_singleton_method(:run) { |*| true }
    RSpec.describe("the inner one") { it("passes") { expect(1).to eq(1) } }.run(RSpec.configuration.reporter)
  end

  it("fails, if it is run") { expect(1).to eq(2) }
end
