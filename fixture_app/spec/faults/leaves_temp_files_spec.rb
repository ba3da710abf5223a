# Passes, and leaves a file in the temp dir. Plain: rc 0, 1 example.
require "tmpdir"

RSpec.describe "A spec that leaves files behind" do
  it "leaves one" do
    File.write(File.join(Dir.mktmpdir("widgetry-left-"), "file"), "forgotten")
  end
end
