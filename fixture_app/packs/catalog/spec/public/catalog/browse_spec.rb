require "rails_helper"

RSpec.describe Catalog::Browse do
  it "shows only what is live" do
    live = create(:widget, :live)
    shelf = create(:shelf, widgets: [ live, create(:widget) ])

    expect(described_class.shelf(shelf.name)).to eq([ live ])
  end
end
