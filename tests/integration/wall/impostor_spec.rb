# frozen_string_literal: true

# Poses as the server of its own checkout for as long as it runs, again and again if it is to, and leads what that writes to
# somebody's file. Writes down what it has heard.
require "json"
require "socket"

RSpec.describe "A spec that poses as the server" do
  facts = JSON.parse(File.read("tmp/facts.json"))
  socket, file, card, again = facts.values_at("socket", "file", "card", "again")
  base = socket.delete_suffix(".sock")

  it "answers in its place" do
    heard = Queue.new
    pose = lambda do
      File.delete(socket) if File.exist?(socket)
      server = UNIXServer.new(socket)
      Thread.new do
        loop do
          client = server.accept
          client.puts(JSON.generate(coatepec: "0.1.0", pid: 1))
          heard << client.gets
        rescue SystemCallError
          nil
        end
      end
      File.stat(socket).ino
    end
    %w[log start.lock].each do |name|
      FileUtils.rm_f("#{base}.#{name}")
      File.symlink(file, "#{base}.#{name}")
    end
    File.write("#{base}.#{card["pid"]}.json", JSON.generate(card))
    system("mkfifo", "#{base}.1.json")
    posed = pose.call
    File.write("tmp/poses", "")
    until File.exist?("tmp/enough")
      begin
        posed = pose.call if again && (!File.exist?(socket) || File.stat(socket).ino != posed)
        sleep 0.01 unless again
      rescue SystemCallError
        nil
      end
    end
    File.write("tmp/heard.json", JSON.generate(Array.new(heard.size) { heard.pop }.compact))
    FileUtils.rm_f("#{base}.1.json")
  end
end
