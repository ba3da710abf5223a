require "spec_helper"
require "money_math"

RSpec.describe MoneyMath do
  it "adds a percentage" do
    expect(described_class.add_percent(1_000, 21)).to eq(1_210)
  end

  it "rounds half a cent up" do
    expect(described_class.add_percent(50, 1)).to eq(51)
  end

  it "rounds to a step" do
    expect(described_class.round_to(1_013, 5)).to eq(1_015)
  end

  it "formats" do
    expect(described_class.format(1_205, "EUR")).to eq("EUR 12.05")
  end
end
