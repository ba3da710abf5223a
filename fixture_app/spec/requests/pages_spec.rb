require "rails_helper"

RSpec.describe "Pages", type: :request do
  it "speaks two languages" do
    get "/nl/books"
    expect(response.body).to include("Boeken over widgets")

    get "/books"
    expect(response.body).to include("Books about widgets")
  end

  it "sends old addresses to new ones" do
    get "/older/3"

    expect(response).to redirect_to("/widgets/3")
  end

  it "answers any verb" do
    patch "/anything"

    expect(response.body).to eq("PATCH")
  end

  it "answers without a controller" do
    get "/ping"

    expect(response.body).to eq("pong")
  end

  it "mounts an app for those who ask" do
    get "/status", params: { probe: 1 }

    expect(response.body).to eq("ok")
  end

  it "knows addresses that are not ASCII" do
    get "/uni/%C3%BC/jo%C3%A4me"

    expect(response.body).to eq("jo")
  end

  it "has a page for what is missing" do
    get "/no/such/page"

    expect(response).to have_http_status(:not_found)
    expect(response.body).to eq("no page no/such/page")
  end
end
