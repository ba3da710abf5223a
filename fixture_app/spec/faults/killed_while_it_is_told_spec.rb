# Is killed by TERM while its failure is being told. Plain: killed by TERM.
RSpec.describe "A spec whose end comes while we describe it" do
  deadly = Class.new(StandardError) do
    def message
      Process.kill(:TERM, Process.pid)
      sleep 1
      "not to be read"
    end
  end

  it("passes") { expect(1).to eq(1) }
  it("raises") { raise deadly }
  it("never runs") { expect(1).to eq(1) }
end
