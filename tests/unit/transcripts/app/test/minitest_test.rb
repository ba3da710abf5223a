# frozen_string_literal: true

class CartTest < Minitest::Test
  i_suck_and_my_tests_are_order_dependent!

  def teardown
    raise ArgumentError, "not torn down" if name == "test_b"
  end

  def test_a = assert(true)

  def test_b
    assert_equal("b", "c")
  end

  def test_c = skip("later")
end
