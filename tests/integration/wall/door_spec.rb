# frozen_string_literal: true

# Asks the server of its own checkout to greet it, and writes down what that said, or that there was no way to it.
require "json"
require "socket"

RSpec.describe "A spec that wants to be a client" do
  socket = JSON.parse(File.read("tmp/facts.json"))["socket"]
  come = lambda do
    UNIXSocket.new(socket)
  rescue Errno::EACCES
    nil
  end
  listen = lambda do |connection|
    connection ? connection.gets : "no way"
  rescue Errno::ECONNRESET
    nil
  end

  it "connects" do
    itself = listen.call(come.call)
    # By somebody who is gone when he is looked for, and has left the connection to a child of his.
    ours, theirs = UNIXSocket.pair
    Process.wait(fork do
      connection = come.call
      fork do
        theirs.write(JSON.generate([listen.call(connection)]))
        exit!(0)
      end
      exit!(0)
    end)
    theirs.close
    File.write("tmp/heard.json", JSON.generate(itself: itself, orphan: JSON.parse(ours.read).first))
  end
end
