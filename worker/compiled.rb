# frozen_string_literal: true

module Coatepec
  # Bootsnap keeps compiled files and parsed YAML, and knows them by size and by the second of the last save. A save
  # that keeps both would be overlooked: one within the same second, or one that puts the time back. So of the app's own
  # files only those are taken from it that can't have had such a save since it kept them.
  module Compiled
    # Seconds after which another save is one of another second.
    SETTLED = 2

    # Captured before any test stubs them.
    STAT = File.method(:stat)
    READ = File.method(:read)

    # In front of `Bootsnap::CompileCache::Native`; the handlers know how to do without it.
    module Distrust
      # The directory comes first, and since Bootsnap 1.25 or so a namespace; then handlers are told the path, too.
      def fetch(*given)
        path, handler, arguments = given.last(3)
        Traces.cached(path) unless handler.equal?(::Bootsnap::CompileCache::ISeq)
        return super if Compiled.trusted?(path)

        told = given.size > 4 ? [path, arguments] : [arguments]
        handler.input_to_output(READ.call(path), *told)
      end
    end

    class << self
      # As soon as the app has set it up.
      def distrust
        return unless defined?(::Bootsnap::CompileCache::Native)

        ::Bootsnap::CompileCache::Native.singleton_class.prepend(Distrust)
      end

      def trusted?(path)
        return true if Boot.installed?(path)

        stat = STAT.call(path)
        age = Process.clock_gettime(Process::CLOCK_REALTIME) - stat.ctime.to_f
        stat.ctime.to_i == stat.mtime.to_i && age > SETTLED
      rescue SystemCallError
        true # What is not there is nothing to be wrong about.
      end
    end
  end
end
