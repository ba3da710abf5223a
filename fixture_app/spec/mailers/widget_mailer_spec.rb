require "rails_helper"

RSpec.describe WidgetMailer do
  it "links to the widget" do
    widget = create(:widget)

    expect(described_class.with(widget: widget).went_live.body.to_s).to include("http://widgets.test/widgets/#{widget.id}")
  end
end
