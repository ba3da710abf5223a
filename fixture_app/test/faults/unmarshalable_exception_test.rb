# Raises an exception that holds what no other process could be told.
require "test_helper"

class UnmarshalableExceptionTest < InOrder
  class Held < StandardError
    def initialize = super("held").tap { @lock = Thread::Mutex.new }
  end

  def test_1_raises = raise(Held)

  def test_2_passes = assert(true)
end
