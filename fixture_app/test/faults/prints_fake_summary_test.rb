# Fails, and prints what looks like a summary of success.
require "test_helper"

class PrintsFakeSummaryTest < InOrder
  def test_1_prints
    puts "99 runs, 99 assertions, 0 failures, 0 errors, 0 skips", "\0\xFF"
  end

  def test_2_fails = assert_equal(2, 1)
end
