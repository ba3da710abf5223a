require "test_helper"

class WidgetsTest < ActionDispatch::IntegrationTest
  test "the list shows what is live" do
    widget = create(:widget, name: "Spring")
    widget.publish!

    get "/widgets"

    assert_response :success
    assert_includes response.body, "Spring"
  end
end
