# frozen_string_literal: true

# The Ruby side of Coatepec, embedded in the binary and handed over in memory: nothing of it is ever on the app's disk.
#
#   worker  boots Rails once in `test` and keeps it warm; loads no class of the app and no test code
#   app     forked from the worker; has the app's classes loaded
#   reader  forked from the app; answers what it is made of
#   zygote  forked from the app; has the test framework and the app's test helper loaded
#   child   forked from the zygote for exactly one run
#   spawn   a fresh process for one run, when forking was not asked for or not safe
#
# The supervisor decides everything; this side does what it is told and reports what happened.
module Coatepec
  # Raised together with `PROTOCOL` in src/worker/protocol.rs whenever a message changes its meaning.
  PROTOCOL = 2

  # Captured before any test stops it.
  CLOCK = Process.method(:clock_gettime)

  class << self
    # Started by the bootstrap line of src/worker/launch.rs with the sources by file name.
    def start(sources)
      @sources = sources
      %w[json record failure wire].each { |name| load_part(name) }
      code_hash
      case ENV.delete("COATEPEC_ROLE")
      when "worker" then start_worker
      when "spawn" then start_spawn
      end
    end

    # Parts that belong to one framework are loaded only where that framework is.
    def load_part(name)
      path = "worker/#{name}.rb"
      eval(@sources.fetch(path), TOPLEVEL_BINDING, "coatepec/#{path}", 1) # rubocop:disable Security/Eval
    end

    # Which build of this code is running: the supervisor refuses a worker of another one.
    def code_hash = @code_hash ||= ENV.delete("COATEPEC_CODE_HASH")

    # The app's directory, with a final slash; known once it is entered.
    def root = @root ||= "#{Dir.pwd}/"

    def clock = CLOCK.call(Process::CLOCK_MONOTONIC)

    private

    def start_worker
      names = %w[
        plain ahead boot compiled databases fork guard patterns questions app reader tables traces zygote worker
      ]
      names.each { |name| load_part(name) }
      code_hash
      Worker.new(Wire.new(inherited_socket)).run
    end

    def start_spawn
      %w[databases fork refusals child].each { |name| load_part(name) }
      Spawn.new(Json.parse(inherited_io("COATEPEC_REQUEST_FD").read), inherited_io("COATEPEC_EVENTS_FD", "w")).run
    end

    def inherited_socket
      require "socket"
      UNIXSocket.for_fd(Integer(ENV.delete("COATEPEC_SOCKET_FD"))).tap { |socket| socket.close_on_exec = true }
    end

    def inherited_io(variable, mode = "r")
      IO.for_fd(Integer(ENV.delete(variable)), mode).tap { |io| io.close_on_exec = true }
    end
  end
end
