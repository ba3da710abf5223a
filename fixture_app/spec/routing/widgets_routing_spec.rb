require "rails_helper"

RSpec.describe "Routes of widgets", type: :routing do
  it "publishes with a POST" do
    expect(post: "/widgets/3/publish").to route_to("widgets#publish", id: "3")
  end

  it "leads the dashboard by its subdomain" do
    expect(get: "http://admin.example.test/dashboard").to route_to("admin/dashboards#show", subdomain: "admin")
  end
end
