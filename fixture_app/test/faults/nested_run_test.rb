# Runs tests of its own inside of a test.
require "test_helper"

class NestedRunTest < InOrder
  def test_1_runs_another
    inner = Class.new(InOrder) { define_method(:test_inner) { raise "the inner one" } }
    refute_predicate inner.new("test_inner").run, :passed?
  end

  def test_2_passes = assert(true)
end
