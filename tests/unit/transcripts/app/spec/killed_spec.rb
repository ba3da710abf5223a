# frozen_string_literal: true

RSpec.describe "Killed" do
  it("works") { expect(1).to eq(1) }
  it("dies") { Process.kill(:KILL, Process.pid) }
  it("never runs") { expect(1).to eq(1) }
end
