# Opens 512 files and closes none.
require "test_helper"

class UsesManyFdsTest < InOrder
  def test_1_opens = $left_open = Array.new(512) { File.open(File::NULL) }

  def test_2_fails = assert_equal(513, $left_open.size)
end
