# Passes, and leaves a port open.
require "test_helper"
require "socket"

class OpensPortTest < InOrder
  def test_1_opens_a_port_and_forgets_it
    $left_listening = TCPServer.new("127.0.0.1", 0)
    puts "listening on #{$left_listening.addr[1]}"
  end
end
