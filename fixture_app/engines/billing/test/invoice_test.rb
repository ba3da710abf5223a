require "test_helper"

class Billing::InvoiceTest < ActiveSupport::TestCase
  test "it needs an amount" do
    assert_not Billing::Invoice.new(number: "2024-2", amount_cents: 0).valid?
  end
end
