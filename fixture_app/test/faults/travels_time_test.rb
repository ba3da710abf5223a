# Stops every clock for good.
require "test_helper"

class TravelsTimeTest < InOrder
  def test_1_stops_the_clocks
    Process.singleton_class.define_method(:clock_gettime) { |*| 0 }
    Time.singleton_class.define_method(:now) { |*| at(0) }
  end

  def test_2_fails = assert_equal(2, 1)
end
