# Prints megabytes, and fails.
require "test_helper"

class FloodsStdoutTest < InOrder
  def test_1_prints
    Integer(ENV.fetch("FLOOD_MB", "8")).times { puts "jaźń " * 180_000 }
  end

  def test_2_fails = assert_equal(2, 1)
end
