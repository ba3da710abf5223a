# Points stdout and stderr at /dev/null, then fails. Plain: rc 1, no output.
RSpec.describe "A spec that looks away" do
  it "reopens" do
    $stdout.reopen(File::NULL, "w")
    $stderr.reopen(File::NULL, "w")
  end

  it("fails") { expect(1).to eq(2) }
end
