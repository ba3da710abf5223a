# Raises Exception itself, and one of a class without a name.
require "test_helper"

class RaisesBareExceptionTest < InOrder
  def test_1_bare = raise(Exception, "bare")

  def test_2_anonymous = raise(Class.new(StandardError), "nameless")

  def test_3_passes = assert(true)
end
