require "spec_helper"
require "slugger"

RSpec.describe Slugger do
  it "keeps letters and digits" do
    expect(described_class.call(" Big Widget, no. 3! ")).to eq("big-widget-no-3")
  end

  it "drops accents" do
    expect(described_class.call("Crème brûlée")).to eq("creme-brulee")
  end
end
