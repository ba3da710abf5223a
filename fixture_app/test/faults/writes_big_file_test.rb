# Writes a file of BIG_FILE_MB (64) below the temp dir, and removes it.
require "test_helper"
require "tempfile"

class WritesBigFileTest < InOrder
  def test_1_writes
    Tempfile.create("big") do |file|
      megabyte = "\0" * 1_048_576
      ENV.fetch("BIG_FILE_MB", 64).to_i.times { file.write(megabyte) }
    end
  end

  def test_2_passes = assert(true)
end
