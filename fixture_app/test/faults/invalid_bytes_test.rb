# Has bytes that are not UTF-8 in a name, a message and its output.
require "test_helper"

class InvalidBytesTest < InOrder
  define_method("test_1_caf\xE9".b) { assert true }

  def test_2_fails = raise("caf\xE9 is closed")

  def test_3_compares = assert_equal("café", "caf\xE9".b)

  def test_4_prints
    $stdout.write("caf\xE9\n")
    $stderr.write("\xFF\xFE\n")
  end
end
