# frozen_string_literal: true

module Coatepec
  # Everything around fork(2): what must be shut before it, and what is put right after it.
  module Fork
    # Signals whose handlers an app may have set; a new process starts with their defaults.
    SIGNALS = %w[HUP INT QUIT TERM USR1 USR2 CHLD ALRM].freeze

    # The number of prctl(2) by processor, and its option for a signal at the parent's death.
    PRCTL = { "x86_64" => 157, "aarch64" => 167 }.freeze
    PR_SET_PDEATHSIG = 1

    class << self
      # Forks with nothing half-done to inherit: no open connection, no unwritten buffer. The block is the fork's life.
      def start
        parent = prepare
        Process.fork do
          settle(parent)
          yield
        end
      end

      # The same, and the fork goes on from here: in it, this is nil.
      def split
        parent = prepare
        pid = Process.fork
        settle(parent) unless pid
        pid
      end

      def prepare
        disconnect
        [$stdout, $stderr, STDOUT, STDERR].each { |io| flush(io) }
        Process.pid
      end

      def settle(parent)
        die_with(parent)
        SIGNALS.each { |signal| trap(signal, "DEFAULT") }
      end

      # Should whoever forked this be killed, nobody would be left who knows of it. Linux only, and a help only: the
      # keeper ends everything that is below it, whatever happens here.
      def die_with(parent)
        number = PRCTL[RbConfig::CONFIG["host_cpu"]]
        return unless number && RUBY_PLATFORM.include?("linux")

        syscall(number, PR_SET_PDEATHSIG, Signal.list["KILL"])
        exit!(1) unless Process.ppid == parent
      rescue SystemCallError, NotImplementedError
        nil
      end

      # A connection shared over a fork corrupts the conversation (or the file) of whoever holds its other half.
      def disconnect
        return unless Databases.used?

        ::ActiveRecord::Base.connection_handler.clear_all_connections!(:all)
      rescue StandardError
        nil
      end

      # Sockets that wait for clients, as a server started by an initializer has. The worker keeps them; whatever is
      # forked from it must not hold the port.
      def listening
        listeners.map do |socket|
          address = socket.local_address
          address.ip? ? "port #{address.ip_port}" : "socket #{address.unix_path}"
        rescue StandardError
          "a socket"
        end
      end

      # Nothing takes the number, which its owner, of Ruby or of C, will close one day.
      def close_listening
        listeners.each { |socket| IO.for_fd(socket.fileno, autoclose: false).reopen(File::NULL) }
      end

      # Points the standard streams at a run's own pipes. By descriptor, so that C code and subprocesses follow.
      def redirect(out, err)
        STDIN.reopen(File::NULL)
        STDOUT.reopen(writable(out))
        STDERR.reopen(writable(err))
        STDOUT.sync = STDERR.sync = true
        $stdout = STDOUT
        $stderr = STDERR
        $stdin = STDIN
        [out, err].each(&:close)
      end

      # What comes over a socket counts as readable, too, and a stream can't be reopened with less than it has.
      def writable(io) = IO.for_fd(io.fileno, "w", autoclose: false)

      # The status of a child that has ended. Children are reaped only when the supervisor says so: until then their
      # pid can't be given to another process.
      def reap(pid)
        _, status = Process.wait2(pid)
        status.signaled? ? { signal: status.termsig } : { status: status.exitstatus }
      rescue Errno::ECHILD
        { lost: true }
      end

      # By descriptor: what a C library listens on is no object of Ruby's.
      def listeners
        require "socket"
        descriptors = Dir.children(File.directory?("/proc/self/fd") ? "/proc/self/fd" : "/dev/fd")
        descriptors.filter_map { |descriptor| listener(descriptor.to_i) }
      end

      def listener(descriptor)
        socket = Socket.for_fd(descriptor).tap { |found| found.autoclose = false }
        socket if socket.getsockopt(:SOCKET, :ACCEPTCONN).bool
      rescue SystemCallError
        nil # No socket, or the one that listed them.
      end

      def flush(io)
        io.flush unless io.closed?
      rescue StandardError
        nil
      end
    end
  end
end
