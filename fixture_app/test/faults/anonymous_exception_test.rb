# Raises an exception of a class without a name.
require "test_helper"

class AnonymousExceptionTest < InOrder
  def test_1_raises = raise(Class.new(StandardError), "of no class")

  def test_2_passes = assert(true)
end
