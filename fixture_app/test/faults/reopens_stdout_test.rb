# Points stdout and stderr at /dev/null, then fails.
require "test_helper"

class ReopensStdoutTest < InOrder
  def test_1_reopens
    $stdout.reopen(File::NULL, "w")
    $stderr.reopen(File::NULL, "w")
  end

  def test_2_fails = assert_equal(2, 1)
end
