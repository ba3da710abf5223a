require "rails_helper"

RSpec.describe Part do
  it "links a widget to its suppliers" do
    part = create(:part)

    expect(part.widget.suppliers).to eq([ part.supplier ])
  end

  it "is plain unless it is said to be fine" do
    expect(described_class.new).to be_plain
  end
end
