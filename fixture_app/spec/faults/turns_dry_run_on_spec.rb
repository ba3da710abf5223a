# Turns dry-run on when all files are loaded: its example looks passed and never runs. Plain: rc 0, 1 example.
RSpec.configure { |config| config.before(:suite) { config.dry_run = true } }

RSpec.describe "A spec that begins to pretend" do
  it("would fail") { expect(1).to eq(2) }
end
