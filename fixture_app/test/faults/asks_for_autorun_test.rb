# Asks for what runs all tests at the exit of a process, as a lone file does.
require "test_helper"

require "minitest/autorun"
Minitest.autorun

class AsksForAutorunTest < InOrder
  def test_1_passes = assert(true)
end
