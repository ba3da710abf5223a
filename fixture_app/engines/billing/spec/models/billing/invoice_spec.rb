require "rails_helper"

RSpec.describe Billing::Invoice do
  subject(:invoice) { described_class.create!(number: "2024-1", amount_cents: 1_500) }

  it "starts open" do
    expect(invoice).to be_open
  end

  it "remembers when it was paid" do
    now = Time.utc(2024, 5, 1, 12)
    invoice.pay!(now)

    expect(invoice.reload).to have_attributes(status: "paid", paid_at: now)
  end

  it "needs an amount" do
    expect(described_class.new(number: "2024-2", amount_cents: 0)).not_to be_valid
  end
end
