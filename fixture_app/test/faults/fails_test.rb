# Fails and breaks in every ordinary way.
require "test_helper"

class FailsTest < InOrder
  def test_1_passes = assert(true)

  def test_2_fails = assert_equal("a\nb\nc\n", "a\nB\nc\n")

  def test_3_breaks = raise(ArgumentError, "broken")

  def test_4_flunks = flunk

  def test_5_is_not_found = no_such_method

  def test_6_throws = throw(:nowhere)

  def test_7_raises_something_else = assert_raises(KeyError) { raise IOError, "closed" }
end
