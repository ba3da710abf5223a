# Skips everything, in every way there is.
require "test_helper"

class SkipsTest < InOrder
  def setup
    skip "in setup" if name == "test_3_in_setup"
  end

  def test_1_with_a_reason = skip("not now")

  def test_2_without = skip

  def test_3_in_setup = assert(true)
end
