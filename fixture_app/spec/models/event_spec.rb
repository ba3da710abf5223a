require "rails_helper"

RSpec.describe Event do
  it "is recorded in the audit database" do
    described_class.record("visit", widget: 1)

    expect(described_class.connection_db_config.name).to eq("audit")
    expect(described_class.last.details).to eq('{"widget":1}')
  end

  it "starts from an empty table" do
    expect(described_class.count).to eq(0)
  end
end
