# frozen_string_literal: true

module Coatepec
  # Notices when a file can't be had although its permissions allow it: how a test meets the sandbox, also where the app
  # rescues the error. Whether it was the sandbox says the supervisor, which knows what that grants.
  #
  # What a program that a test starts is refused is not seen (what it says of it is looked for elsewhere), nor what
  # native code meets and does not raise.
  class Refusals
    # Different ones that are kept between two records.
    MOST = 50

    # What the kernel says of a file that is not granted; the second, of a way from one directory to another.
    ERRORS = [Errno::EACCES, Errno::EXDEV].freeze

    # `Permission denied @ rb_sysopen - /etc/x`, `… @ rb_file_s_rename - (/a, /b)`: as Ruby itself words it.
    FORM = /@ (\w+) - (?:\((.+?), (.+)\)|(.+))\z/mn

    # These reach what a symbolic link leads to; all others the link itself.
    FOLLOWING = %w[rb_sysopen rb_file_s_truncate].freeze

    # Captured early: specs stub them.
    MESSAGE = Exception.instance_method(:to_s)
    EXIST, READABLE, WRITABLE, EXPAND, REAL, SPLIT =
      %i[exist? readable? writable? expand_path realpath split].map { |name| File.method(name) }

    def initialize
      @noticed = {}
      @more = 0
    end

    def watch = TracePoint.new(:raise) { |point| notice(point.raised_exception) }.enable

    # What was noticed since this was last asked, as a record has it; nil if that is nothing.
    def take
      return if @noticed.empty?

      noticed = @noticed
      more = @more
      @noticed = {}
      @more = 0
      { files: noticed.values.flat_map { |files, count| files.map { |file| file.merge(count: count) } }, more: more }
    end

    # Whatever goes wrong here must not take the place of the error that the app raised.
    def notice(error)
      return unless ERRORS.include?(error.class)

      text = MESSAGE.bind_call(error)
      return @noticed[text][1] += 1 if @noticed.key?(text)
      return @more += 1 if @noticed.size == MOST

      files = files(text)
      @noticed[text] = [files, 1] if files.any?
    rescue StandardError
      nil
    end

    private

    def files(text)
      function, first, second, only = FORM.match(text.b)&.captures
      names = function == "rb_file_s_symlink" ? [second] : [only, first, second]
      names.compact.filter_map { |name| file(name.force_encoding(text.encoding), function) }
    end

    def file(name, function)
      follows = FOLLOWING.include?(function)
      path = place(EXPAND.call(name), follows)
      there = follows && EXIST.call(path)
      readable = there && function == "rb_sysopen" && READABLE.call(path)
      writable = WRITABLE.call(there ? path : SPLIT.call(path).first)
      { path: path, readable: readable, writable: writable } if readable || writable
    end

    # Without symbolic links.
    def place(path, follows)
      return REAL.call(path) if follows && EXIST.call(path)

      dir, name = SPLIT.call(path)
      File.join(REAL.call(dir), name)
    end
  end
end
