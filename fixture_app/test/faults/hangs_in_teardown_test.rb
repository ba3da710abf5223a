# Never comes out of its teardown.
require "test_helper"

class HangsInTeardownTest < InOrder
  def teardown = sleep

  def test_1_hangs = assert(true)

  def test_2_never_runs = assert(true)
end
