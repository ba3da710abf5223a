# Travels to 2050, from where Rails brings it back, then stops every clock for good. Plain: rc 1, 3 examples, 1 failure.
require "rails_helper"

RSpec.describe "A spec that travels" do
  it("travels") { travel_to(Time.utc(2050, 1, 1)) }

  it "stops the clocks" do
    Process.singleton_class.define_method(:clock_gettime) { |*| 0 }
    Time.singleton_class.define_method(:now) { |*| at(0) }
  end

  it("fails") { expect(1).to eq(2) }
end
