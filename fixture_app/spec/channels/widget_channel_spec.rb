require "rails_helper"

RSpec.describe WidgetChannel do
  before { stub_connection(visitor: "jo") }

  it "listens to the widgets" do
    subscribe

    expect(subscription).to have_stream_from("widgets")
  end

  it "answers a question for the price" do
    subscribe
    perform :ask, id: create(:widget).id

    expect(transmissions.last).to eq("price_cents" => 1_000)
  end
end
