# Sleeps for ever in its second example. Plain: hangs until TERM.
require "rails_helper"

RSpec.describe "A spec that hangs" do
  it("passes") { expect(create(:widget)).to be_persisted }
  it("hangs") { sleep }
  it("never runs") { expect(1).to eq(1) }
end
