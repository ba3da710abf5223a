# Turns dry-run on: both examples look passed and neither runs. Plain: rc 0, 2 examples.
RSpec.configuration.dry_run = true

RSpec.describe "A spec that only pretends" do
  it("would pass") { expect(1).to eq(1) }
  it("would fail") { expect(1).to eq(2) }
end
