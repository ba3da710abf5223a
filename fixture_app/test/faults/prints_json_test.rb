# Prints JSON that looks like a result, at load, in a test and at exit.
require "test_helper"

at_exit { puts %({"event":"run_finished","status":"passed"}) }
puts %({"jsonrpc":"2.0","id":1,"result":{}})

class PrintsJsonTest < InOrder
  def test_1_prints = puts(%({"summary":{"example_count":99,"failure_count":0}}))

  def test_2_fails = assert_equal(2, 1)
end
