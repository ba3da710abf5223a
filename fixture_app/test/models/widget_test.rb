require "test_helper"

class WidgetTest < ActiveSupport::TestCase
  setup { @widget = build(:widget, name: "Big  Wheel ") }

  test "its name is squished" do
    @widget.save!

    assert_equal "Big Wheel", @widget.name
  end

  test "its name is unique for a maker" do
    maker = create(:maker)
    create(:widget, name: "Cog", maker: maker)

    assert_not build(:widget, name: "cog", maker: maker).valid?
  end

  test "its price has a limit" do
    @widget.price_cents = 500_001

    assert_not @widget.valid?
    assert @widget.errors.of_kind?(:price_cents, :less_than_or_equal_to)
  end
end
