# Closes stdout and stderr, then fails. Plain: rc 1, no output, IOError on stderr.
RSpec.describe "A spec that shuts up" do
  it("passes") { expect(1).to eq(1) }

  it "closes" do
    $stdout.close
    $stderr.close
  end

  it("fails") { expect(1).to eq(2) }
end
