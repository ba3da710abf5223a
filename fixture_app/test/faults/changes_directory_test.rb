# Changes the directory, and fails there.
require "test_helper"

class ChangesDirectoryTest < InOrder
  def test_1_leaves = Dir.chdir("/")

  def test_2_fails = assert_equal(2, 1)
end
