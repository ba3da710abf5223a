# frozen_string_literal: true

module Coatepec
  # The private line to the supervisor: one JSON object per line, file descriptors riding along with the line
  # that counts them in `fds`.
  class Wire
    def initialize(socket)
      @socket = socket
      @buffer = String.new(encoding: Encoding::BINARY)
      @ios = []
    end

    # The next message and its descriptors, or nil when the supervisor is gone.
    def receive
      until (eol = @buffer.index("\n"))
        return unless fill
      end
      message = Json.parse(@buffer.slice!(0..eol))
      [message, @ios.shift(message.fetch(:fds, 0))]
    end

    def tell(type, **fields)
      @socket.write(Json.line({ type: type }.merge(fields)))
    rescue SystemCallError
      nil # Gone while we spoke: the next `receive` says so.
    end

    def close = @socket.close

    private

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
