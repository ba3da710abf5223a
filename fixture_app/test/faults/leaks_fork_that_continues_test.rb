# Forks without a block: from there on two processes run the rest.
require "test_helper"

class LeaksForkThatContinuesTest < InOrder
  def test_1_passes = assert(true)

  def test_2_forks = (@child = fork)

  def test_3_fails_in_one_of_them = assert_equal(RUN_BY, Process.pid)

  RUN_BY = Process.pid
end
