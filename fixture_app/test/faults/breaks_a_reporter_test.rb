# Has a reporter of its own, which breaks on the first test.
require "test_helper"

class Broken < Minitest::AbstractReporter
  def record(_result) = raise("the reporter broke")
end

module Minitest
  def self.plugin_broken_init(_options) = reporter << Broken.new
end
Minitest.extensions << "broken"

class BreaksAReporterTest < InOrder
  def test_1_passes = assert(true)
end
