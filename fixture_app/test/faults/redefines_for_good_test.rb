# Redefines what a reporter needs and does not put it back.
require "test_helper"

class RedefinesForGoodTest < InOrder
  def test_1_redefines
    JSON.singleton_class.define_method(:generate) { |*| raise "no JSON today" }
    IO.define_method(:puts) { |*| nil }
    Hash.define_method(:to_json) { |*| "{}" }
  end

  def test_2_fails = assert_equal(2, 1)
end
