require "rails_helper"

RSpec.describe Widget do
  subject(:widget) { build(:widget, name: "Big  Wheel ") }

  it_behaves_like "something with a slug"

  describe "its name" do
    it "is squished" do
      widget.save!

      expect(widget.name).to eq("Big Wheel")
    end

    it "is unique for a maker" do
      maker = create(:maker)
      create(:widget, name: "Cog", maker: maker)

      expect(build(:widget, name: "cog", maker: maker)).not_to be_valid
    end

    it "cannot be a reserved one" do
      widget.name = "nothing"

      expect(widget).not_to be_valid
    end
  end

  describe "its price" do
    it "is kept in cents and read in units" do
      widget.update!(price_cents: 1_250)

      expect(described_class.find(widget.id).price).to eq(12.5)
    end

    it "has a limit" do
      widget.price_cents = 500_001

      expect(widget).not_to be_valid
      expect(widget.errors).to be_of_kind(:price_cents, :less_than_or_equal_to)
    end
  end

  describe "#publish!" do
    context "when the widget is complete" do
      it "goes live" do
        widget.publish!

        expect(described_class.live).to contain_exactly(widget)
      end
    end

    context "when the widget costs nothing" do
      before { widget.price_cents = 0 }

      it "stays a draft" do
        expect { widget.publish! }.to raise_error(ActiveRecord::RecordInvalid)
        expect(described_class.live).to be_empty
      end
    end
  end

  describe ".cheaper_than" do
    let!(:cheap) { create(:widget, price_cents: 100) }
    let!(:dear) { create(:widget, price_cents: 9_000) }

    it "leaves out what costs as much or more" do
      expect(described_class.cheaper_than(9_000)).to contain_exactly(cheap)
    end
  end
end
