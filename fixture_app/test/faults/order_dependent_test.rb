# Has a victim that fails when the polluter ran before it; the order follows the seed.
require "test_helper"

class OrderDependentTest < Minitest::Test
  POLLUTED = []

  def test_is_a_bystander = assert(true)

  def test_pollutes = POLLUTED << true

  def test_is_another_bystander = assert(true)

  def test_is_the_victim = assert_empty(POLLUTED)
end
