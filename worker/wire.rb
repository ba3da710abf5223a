# frozen_string_literal: true

module Coatepec
  # The private line to the supervisor: one JSON object per line, file descriptors riding along with the line
  # that counts them in `fds`.
  class Wire
    # Over a socket that came as a descriptor, of whatever kind Ruby took it for.
    def self.over(io) = new(UNIXSocket.for_fd(io.fileno).tap { io.autoclose = false })

    def initialize(socket)
      @socket = socket
      @buffer = String.new(encoding: Encoding::BINARY)
      @ios = []
    end

    # Yields each question with its name, fields and descriptors, until the supervisor is gone.
    def each_question
      while (line = receive)
        message = Json.parse(line)
        @id = message[:id]
        name, fields = message.fetch(:ask).first
        yield name, fields, @ios.shift(message.fetch(:fds))
      end
    end

    # Answers the question at hand.
    def answer(name, **fields) = send_line(id: @id, told: { name => fields })

    # Says something that nobody asked for.
    def tell(name, **fields) = send_line(id: nil, told: { name => fields })

    def close = @socket.close

    private

    def receive
      until (eol = @buffer.index("\n"))
        return unless fill
      end
      @buffer.slice!(0..eol)
    end

    def send_line(**line)
      @socket.write(Json.line(line))
    rescue SystemCallError
      nil # Gone while we spoke: the next `receive` says so.
    end

    def fill
      data, _from, _flags, *controls = @socket.recvmsg(65_536, 0, 256, scm_rights: true)
      controls.each { |control| @ios.concat(control.unix_rights) if control.cmsg_is?(:SOCKET, :RIGHTS) }
      return false if data.nil? || data.empty?

      @buffer << data
    rescue Errno::ECONNRESET
      false
    end
  end
end
