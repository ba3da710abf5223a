# Has a setup that raises: each test fails, and none runs.
require "test_helper"

class FailsInSetupTest < InOrder
  def setup = raise("in setup")

  def test_1_has_no_chance = assert(true)

  def test_2_neither = assert(true)
end
