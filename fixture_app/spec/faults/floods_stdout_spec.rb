# Writes FLOOD_MB (8) of text to stdout, and as much to stderr. Plain: rc 1, 2 examples, 1 failure.
RSpec.describe "A spec that floods both streams" do
  it "writes" do
    page = "zażółć gęślą jaźń ✓\n" * 40_000
    (ENV.fetch("FLOOD_MB", 8).to_i * 1_048_576).ceildiv(page.bytesize).times do
      $stdout.write(page)
      $stderr.write(page)
    end
  end

  it("fails at the end") { expect(1).to eq(2) }
end
