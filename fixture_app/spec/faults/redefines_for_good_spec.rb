# Redefines what a reporter needs and does not put it back. Plain: rc 1, no summary.
require "json"

RSpec.describe "A spec that redefines for good" do
  it "redefines" do
    JSON.singleton_class.define_method(:generate) { |*| raise "no JSON today" }
    IO.define_method(:puts) { |*| nil }
    Array.define_method(:to_json) { |*| "[]" }
    Hash.define_method(:to_json) { |*| "{}" }
    String.define_method(:to_json) { |*| '""' }
  end

  it("fails") { expect(1).to eq(2) }
end
