# Has a teardown that raises after a test that passes, one that fails and one that was skipped.
require "test_helper"

class FailsInTeardownTest < InOrder
  def teardown = raise("in teardown")

  def test_1_passes = assert(true)

  def test_2_fails = assert_equal(2, 1)

  def test_3_skips = skip("not now")
end
