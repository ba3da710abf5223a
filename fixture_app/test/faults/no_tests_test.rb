# Has a class without a test.
require "test_helper"

class NoTestsTest < InOrder
  def helper = nil
end
