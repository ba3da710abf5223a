# frozen_string_literal: true

RSpec.describe "Failing" do
  after(:context) { raise "in a hook" }

  it("is wrong") { expect("a\nb\n").to eq("a\nc\n") }

  it "has a cause" do
    raise IOError, "closed"
  rescue IOError
    raise ArgumentError, "not readable"
  end

  it "is wrong twice", :aggregate_failures do
    expect(1).to eq(2)
    expect(3).to eq(4)
  end

  it "was fixed" do
    pending "later"
    expect(1).to eq(1)
  end
end
