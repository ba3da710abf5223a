# frozen_string_literal: true

# More connections at a time than the keeper makes, none of which is ever made; then they are killed.
require "io/nonblock"
require "socket"

RSpec.describe "A spec that floods its keeper" do
  it "is answered again once nobody waits any more" do
    told, tell = IO.pipe
    child = fork do
      600.times do
        Thread.new do
          socket = Socket.new(:UNIX, :STREAM)
          socket.nonblock = false
          tell.write("x")
          socket.connect(Socket.sockaddr_un("tmp/full")) && sleep
        end
      end
      sleep
    end
    told.read(600)
    Process.kill(:KILL, child)
    Process.wait(child)
    server = UNIXServer.new("tmp/answering")
    UNIXSocket.new("tmp/answering")
    server.accept
  end
end
