require "test_helper"
require "minitest/spec"

class ShapesTest < ActiveSupport::TestCase
  include SluggableTests

  setup do
    @ready = true
  end

  def test_by_method
    assert @ready
    assert true
  end

  test "by name" do
    assert @ready
  end

  %w[one two].each do |number|
    test "generated #{number}" do
      assert_includes %w[one two], number
    end
  end

  test("in one line") { assert true }

  private

  def sluggable = build(:widget)
end

class PlainShapesTest < Minitest::Test
  def test_it_needs_no_rails
    assert_equal 2, 1 + 1
  end

  def helper
    nil
  end
end

describe "shapes in words" do
  before { @ready = true }

  it "runs" do
    _(@ready).must_equal true
  end

  describe "nested" do
    it "runs, too" do
      _(1).must_equal 1
    end

    it "has # and : in its name" do
      _(1).must_equal 1
    end
  end
end
