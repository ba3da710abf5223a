# Passes, and leaves a port open. Plain: rc 0, 1 example.
require "socket"

RSpec.describe "A spec that listens" do
  it "opens a port and forgets it" do
    $left_listening = TCPServer.new("127.0.0.1", 0)
    puts "listening on #{$left_listening.addr[1]}"
  end
end
