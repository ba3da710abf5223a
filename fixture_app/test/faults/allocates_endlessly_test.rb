# Takes memory until it is stopped, or has ALLOCATE_MB (2048).
require "test_helper"

class AllocatesEndlesslyTest < InOrder
  def test_1_passes = assert(true)

  def test_2_takes_and_takes
    limit = ENV.fetch("ALLOCATE_MB", 2_048).to_i
    taken = []
    taken << ("x" * 1_048_576) until taken.size >= limit
    raise "nobody stopped me at #{limit} MB"
  end

  def test_3_never_runs_if_it_was_stopped = assert(true)
end
