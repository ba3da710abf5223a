# frozen_string_literal: true

# Talks to whom it can, and writes down what came of it.
require "json"
require "socket"
require "timeout"

RSpec.describe "A spec that talks" do
  facts = JSON.parse(File.read("tmp/facts.json"))
  outside, port, path = facts.values_at("outside", "port", "path")
  tcp = ->(host) { TCPSocket.new(host, port).close }
  udp = ->(family = Socket::AF_INET) { UDPSocket.new(family) }

  acts = {
    "connects" => -> { tcp.call(outside) },
    "connects_by_a_mapped_address" => -> { tcp.call("::ffff:#{outside}") },
    "connects_without_blocking" => lambda {
      socket = Socket.new(:INET, :STREAM)
      begin
        socket.connect_nonblock(Addrinfo.tcp(outside, port))
      rescue IO::WaitWritable
        "under way"
      end
    },
    "sends_a_datagram" => -> { udp.call.send("x", 0, outside, port) },
    "sends_a_datagram_by_a_mapped_address" => -> { udp.call(Socket::AF_INET6).send("x", 0, "::ffff:#{outside}", port) },
    "connects_for_datagrams" => -> { udp.call.connect(outside, port) },
    "asks_a_resolver" => -> { udp.call.connect(outside, 53) },
    "joins_a_group" => lambda {
      group = [239, 1, 2, 3, *outside.split(".").map(&:to_i)].pack("C8")
      udp.call.setsockopt(Socket::IPPROTO_IP, Socket::IP_ADD_MEMBERSHIP, group)
    },
    "joins_a_group_of_a_source" => lambda {
      group = [239, 1, 2, 3, *outside.split(".").map(&:to_i), 203, 0, 113, 1].pack("C12")
      udp.call.setsockopt(Socket::IPPROTO_IP, Socket::IP_ADD_SOURCE_MEMBERSHIP, group)
    },
    "makes_a_raw_socket" => -> { Socket.new(:INET, :RAW, Socket::IPPROTO_ICMP) },
    "leaves_the_device" => lambda {
      Socket.new(:INET, :STREAM).setsockopt(Socket::SOL_SOCKET, Socket::SO_BINDTODEVICE, "\0")
    },

    "connects_here" => -> { tcp.call("127.0.0.1") },
    "connects_to_the_unspecified" => -> { tcp.call("0.0.0.0") },
    "connects_by_name" => -> { tcp.call("localhost") },
    "connects_many_times_at_once" => -> { Array.new(20) { Thread.new { tcp.call("127.0.0.1") } }.each(&:join) },
    "serves" => lambda {
      server = TCPServer.new("0.0.0.0", 0)
      client = Thread.new { TCPSocket.new("127.0.0.1", server.addr[1]).read }
      server.accept.then { |one| one.write("x") && one.close }
      raise Errno::EPROTO unless client.value == "x"
    },
    "sends_a_datagram_here" => lambda {
      server = UDPSocket.new.tap { |socket| socket.bind("127.0.0.1", 0) }
      udp.call.send("x", 0, "127.0.0.1", server.addr[1])
      server.recv(1)
    },
    "waits_in_vain_for_a_while" => lambda {
      server = TCPServer.new("127.0.0.1", 0)
      begin
        Timeout.timeout(0.2) { server.accept }
      rescue Timeout::Error
        "as it should"
      end
    },
    "is_refused_by_who_is_not_there" => lambda {
      gone = TCPServer.new("127.0.0.1", 0).then { |server| server.addr[1].tap { server.close } }
      begin
        TCPSocket.new("127.0.0.1", gone)
      rescue Errno::ECONNREFUSED
        "as it should"
      end
    },
    "talks_to_a_unix_socket" => -> { UNIXSocket.new(path).close },
    "pairs_sockets" => -> { UNIXSocket.pair.each(&:close) }
  }

  came_of = {}
  acts.each do |name, act|
    it name do
      came_of[name] = begin
        act.call
        "done"
      rescue SystemCallError => e
        e.class.name
      end
    end
  end

  after(:all) { File.write("tmp/came_of.json", JSON.generate(came_of)) }
end
