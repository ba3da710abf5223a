# Prints what is random, so that two runs can be compared. Plain: rc 0, 1 example.
require "securerandom"

RSpec.describe "A spec that prints what is random" do
  it "prints" do
    puts "seed #{RSpec.configuration.seed}", "rand #{rand}", "random #{Random.new.rand}", "secure #{SecureRandom.hex(4)}"
  end
end
