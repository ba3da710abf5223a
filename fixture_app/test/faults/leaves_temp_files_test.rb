# Passes, and leaves a file in the temp dir.
require "test_helper"
require "tmpdir"

class LeavesTempFilesTest < InOrder
  def test_1_leaves_one = File.write(File.join(Dir.mktmpdir("widgetry-left-"), "file"), "forgotten")
end
