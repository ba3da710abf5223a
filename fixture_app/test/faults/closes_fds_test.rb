# Closes every fd above 2 that Ruby lets it close.
require "test_helper"

class ClosesFdsTest < InOrder
  def test_1_passes = assert(true)

  def test_2_closes
    Dir.children("/proc/self/fd").map(&:to_i).select { |fd| fd > 2 }.each do |fd|
      IO.for_fd(fd).close
    rescue SystemCallError, ArgumentError
      next # the listing's own fd is gone by now, and Ruby keeps a few for itself
    end
  end

  def test_3_fails = assert_equal(2, 1)
end
