# Requires minitest/autorun, which runs at exit and reads ARGV. Plain: rc 0, 1 example, and Minitest's summary of 0 runs; rc 1 with an option that Minitest does not know.
require "minitest/autorun"

RSpec.describe "A spec that brings Minitest along" do
  it("passes") { expect(1).to eq(1) }
end
