# Reads from stdin.
require "test_helper"

class ReadsStdinTest < InOrder
  def test_reads = assert_equal("", $stdin.read)
end
