require "rails_helper"

RSpec.describe "Api::V1::Widgets", type: :request do
  it "lists what is live" do
    widget = create(:widget, :live)
    create(:widget)

    get "/api/v1/widgets"

    expect(json.pluck("id")).to eq([ widget.id ])
  end

  it "says what is missing" do
    get "/api/v1/widgets/0"

    expect(response).to have_http_status(:not_found)
    expect(json.fetch("error")).to start_with("Couldn't find Widget")
  end
end
