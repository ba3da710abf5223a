require "rails_helper"

RSpec.describe "Widgets", type: :request do
  let!(:widget) { create(:widget, name: "Cog", price_cents: 1_205) }

  it "lists them" do
    get "/widgets"

    expect(response.body).to include(%(<a href="/widgets/#{widget.id}">Cog</a> EUR 12.05))
  end

  it "shows one" do
    get "/widgets/#{widget.id}"

    expect(response.body).to include("Price: EUR 12.05")
  end

  it "records who looks" do
    post "/session", params: { visitor: "jo" }

    expect { get "/widgets/#{widget.id}" }.to change(Event, :count).by(1)
  end

  it "finds by name" do
    get "/widgets/search", params: { q: "COG" }

    expect(response.body).to include("Cog")
  end

  it "creates one" do
    post "/widgets", params: { widget: { name: "Wheel", price_cents: 5 } }

    expect(response).to redirect_to("/widgets/#{Widget.find_by!(name: 'Wheel').id}")
  end

  it "says why it cannot be created" do
    post "/widgets", params: { widget: { name: "" } }

    expect(response.status).to eq(422)
    expect(response.body).to include("Name can't be blank")
  end

  it "is not found when it is gone" do
    delete "/widgets/#{widget.id}"
    get "/widgets/#{widget.id}"

    expect(response).to have_http_status(:not_found)
  end

  it "takes comments" do
    post "/widgets/#{widget.id}/comments", params: { body: "Nice" }
    get "/widgets/#{widget.id}/comments"

    expect(response.body).to eq("Nice")
  end
end
