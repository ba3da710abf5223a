# Changes to / and stays there. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec that walks away" do
  it("walks") { Dir.chdir("/") }
  it("fails far from home") { expect(Dir.pwd).to eq("home") }
end
