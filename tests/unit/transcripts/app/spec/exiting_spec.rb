# frozen_string_literal: true

RSpec.describe "Exiting" do
  it("leaves with a good status") { exit(0) }
  it("never runs") { expect(1).to eq(1) }
end
