require "minitest/autorun"
require "money_math"

class MoneyMathTest < Minitest::Test
  def test_it_adds_a_percentage
    assert_equal 1_210, MoneyMath.add_percent(1_000, 21)
  end
end
