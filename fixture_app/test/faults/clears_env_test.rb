# Empties the environment.
require "test_helper"

class ClearsEnvTest < InOrder
  def test_1_empties = ENV.clear

  def test_2_fails = assert_equal("/bin", ENV.fetch("PATH", nil))
end
