# frozen_string_literal: true

RSpec.describe "Forking" do
  # Both processes go on with the run from here.
  it("goes on twice") { fork }
  it("works") { expect(1).to eq(1) }
end
