require "rails_helper"

RSpec.describe QuoteRequest do
  it "asks for one unless told otherwise" do
    expect(described_class.new(email: "a@b.example").quantity).to eq(1)
  end

  it "needs an address to answer to" do
    expect(described_class.new).not_to be_valid
  end
end
