# Has a test of another class run in the place of its own next one.
require "test_helper"

class NestedRunHidesOneTest < InOrder
  def test_1_takes_the_next_one_away
    inner = Class.new(InOrder) { define_method(:test_inner) { assert true } }
    instead = lambda do |_klass, _name, reporter|
      reporter.prerecord(inner, "test_inner")
      reporter.record(inner.new("test_inner").run)
    end
    # Of Minitest 5 and of 6.
    %i[run_one_method run].each { |name| self.class.define_singleton_method(name, &instead) }
  end

  def test_2_fails_if_it_is_run = assert_equal(2, 1)
end
