require "rails_helper"

RSpec.describe Catalog::Shelf do
  it "needs a name" do
    expect(build(:shelf, name: "")).not_to be_valid
  end

  it "holds widgets" do
    shelf = create(:shelf, widgets: create_list(:widget, 2))

    expect(shelf.reload.widgets.count).to eq(2)
  end
end
