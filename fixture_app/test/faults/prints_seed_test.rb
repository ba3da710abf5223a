# Prints what is random, so that two runs can be compared.
require "test_helper"
require "securerandom"

class PrintsSeedTest < InOrder
  def test_1_prints
    puts "seed #{Minitest.seed}", "rand #{rand}", "random #{Random.new.rand}", "secure #{SecureRandom.hex(4)}"
  end
end
