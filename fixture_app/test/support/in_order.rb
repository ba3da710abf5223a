# Tests that run by their names, whatever the seed, and know nothing of Rails.
class InOrder < Minitest::Test
  def self.test_order = :alpha

  def self.run_order = :alpha
end
