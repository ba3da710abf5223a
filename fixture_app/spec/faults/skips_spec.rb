# Skips in every way there is; nothing fails, nothing passes. Plain: rc 0, 5 examples, 0 failures, 5 pending.
RSpec.describe "A spec that skips" do
  it "has no body"

  xit("is crossed out") { raise }

  it("is told so by its tag", skip: "not on this machine") { raise }

  it "says so itself" do
    skip "not today"
  end

  context "when the whole group does" do
    before(:context) { skip "not this group" }

    it("is skipped") { raise }
  end
end
