require "rails_helper"

RSpec.describe PriceList do
  let!(:widget) { create(:widget, :live, name: 'Cog, 3"', price_cents: 200) }

  it "adds up what is live" do
    create(:widget, price_cents: 9_999)

    expect(described_class.new.net_cents).to eq(200)
  end

  it "adds VAT" do
    expect(described_class.new.gross_cents).to eq(242)
  end

  it "is written as CSV" do
    expect(described_class.new.to_csv).to eq(%("Cog, 3""",200\n))
  end
end
