# Writes a file of BIG_FILE_MB (64) below the temp dir, and removes it. Plain: rc 0, 2 examples.
require "tempfile"

RSpec.describe "A spec that writes a big file" do
  it "writes" do
    Tempfile.create("big") do |file|
      megabyte = "\0" * 1_048_576
      ENV.fetch("BIG_FILE_MB", 64).to_i.times { file.write(megabyte) }
    end
  end

  it("passes") { expect(1).to eq(1) }
end
