# Passes, and counts its assertions in numbers that no reporter expects.
require "test_helper"

class OddAssertionsTest < InOrder
  def test_1_half = self.assertions = 1.5
  def test_2_less_than_none = self.assertions = -3
  def test_3_a_trillion = self.assertions = 2**40
end
