require "rails_helper"

RSpec.describe Gadget do
  it "is stored among the widgets" do
    gadget = create(:gadget)

    expect(Widget.find(gadget.id)).to be_a(described_class)
  end

  it "refuses a voltage that would melt it" do
    expect(build(:gadget, volts: 10_000)).not_to be_valid
  end
end
