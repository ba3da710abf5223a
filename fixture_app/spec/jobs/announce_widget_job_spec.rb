require "rails_helper"

RSpec.describe AnnounceWidgetJob do
  let(:widget) { create(:widget, name: "Cog") }

  it "is enqueued once a widget goes live" do
    expect { widget.publish! }.to have_enqueued_job(described_class).with(widget)
  end

  it "mails the fans" do
    described_class.perform_now(widget)

    expect(ActionMailer::Base.deliveries.last.subject).to eq("Cog went live")
  end

  it "tells those who listen" do
    expect { described_class.perform_now(widget) }.to have_broadcasted_to("widgets").with(id: widget.id, name: "Cog")
  end
end
