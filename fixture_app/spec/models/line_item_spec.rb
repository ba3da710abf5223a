require "rails_helper"

RSpec.describe LineItem do
  let(:order) { create(:order) }

  it "is known by its order and position" do
    line = create(:line_item, order: order, position: 2)

    expect(described_class.find([ order.ref, 2 ])).to eq(line)
  end

  it "takes part in the total" do
    create(:line_item, order: order, position: 1, quantity: 2)
    create(:line_item, order: order, position: 2)

    expect(order.reload.total_cents).to eq(750)
  end

  it "has notes" do
    line = create(:line_item, order: order, position: 1)
    note = line.notes.create!(text: "Fragile")

    expect(note.reload.line_item).to eq(line)
  end
end
