require "rails_helper"

RSpec.describe Ops::Thing do
  it "is removed with its parent" do
    parent = described_class.create!(code: "a")
    parent.children.create!(code: "b")

    expect { parent.destroy! }.to change(described_class, :count).by(-2)
  end
end
