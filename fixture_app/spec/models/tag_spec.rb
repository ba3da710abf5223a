require "rails_helper"

RSpec.describe Tag do
  it "is shared by widgets" do
    tag = create(:tag)
    widgets = create_list(:widget, 2, tags: [ tag ])

    expect(tag.reload.widgets).to match_array(widgets)
  end
end
