require "rails_helper"

RSpec.describe RepriceWidgetsJob do
  let!(:widget) { create(:widget, price_cents: 1_000) }

  it "raises the price" do
    described_class.perform_now(10, [ widget.id ])

    expect(widget.reload.price_cents).to eq(1_100)
  end

  it "does nothing for nothing" do
    expect { described_class.perform_now(0, [ widget.id ]) }.not_to change { widget.reload.price_cents }
  end

  it "takes the slow lane when much changes" do
    expect { described_class.perform_later(60) }.to have_enqueued_job.on_queue("slow")
  end
end
