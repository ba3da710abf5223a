# Writes FLOOD_MB (8) of text to stderr.
require "test_helper"

class FloodsStderrTest < InOrder
  def test_1_writes
    page = "grüße aus Köln ✓\n" * 40_000
    (ENV.fetch("FLOOD_MB", 8).to_i * 1_048_576).ceildiv(page.bytesize).times { $stderr.write(page) }
  end

  def test_2_passes = assert(true)
end
