# Sends itself TERM in its second test.
require "test_helper"

class KillsItselfTermTest < InOrder
  def test_1_passes = assert(true)

  def test_2_kills_itself_term
    Process.kill(:TERM, Process.pid)
    sleep 1
  end

  def test_3_never_runs = assert(true)
end
