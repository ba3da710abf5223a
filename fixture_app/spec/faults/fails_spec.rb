# Fails in the common ways, and passes once. Plain: rc 1, 8 examples, 7 failures.
require "rails_helper"

RSpec.describe "A spec that fails" do
  shared_examples "something dear" do
    it "costs more than 2,000 cents" do
      expect(subject.price_cents).to be > 2_000
    end
  end

  it "passes first" do
    expect(create(:widget)).to be_persisted
  end

  it "compares texts of several lines" do
    expect("one\ntwo\nthree\n").to eq("one\n2\nthree\n")
  end

  it "raises, for a reason" do
    Integer("seven")
  rescue ArgumentError
    raise "the count was not read"
  end

  it "collects", :aggregate_failures do
    expect(1).to eq(2)
    expect([ :a ]).to include(:b)
    expect { raise KeyError, "lost" }.not_to raise_error
  end

  it "uses a matcher of its own" do
    expect(build(:widget, name: "Cog", price_cents: 5)).to be_priced_like(build(:widget, name: "Wheel", price_cents: 7))
  end

  it "compares records" do
    expect(build(:widget, name: "Cog")).to have_attributes(name: "Wheel", state: "live")
  end

  it "has an app frame on top" do
    create(:widget, price_cents: 0).publish!
  end

  describe "what it shares" do
    subject { build(:widget) }

    it_behaves_like "something dear"
  end
end
