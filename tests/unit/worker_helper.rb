# frozen_string_literal: true

require "fileutils"
require "json"
require "minitest/autorun"
require "rbconfig"
require "socket"
require "sqlite3"
require "tmpdir"

# Starting the Ruby side as the binary does, with the sources from the tree.
module Started
  TREE = File.expand_path("../..", __dir__)
  APP = File.join(__dir__, "transcripts", "app")

  # As the binary hands the code over: by file name, and evaluated under that name.
  START = <<~RUBY.freeze
    tree = #{TREE.inspect}
    sources = Dir.glob("{worker.rb,worker/**/*.rb}", base: tree).to_h { |file| [file, File.read(File.join(tree, file))] }
    eval(sources.fetch("worker.rb"), TOPLEVEL_BINDING, "coatepec/worker.rb", 1)
    Coatepec.start(sources)
  RUBY

  # A copy of the app that may be changed.
  def in_app
    Dir.mktmpdir do |dir|
      root = File.join(File.realpath(dir), "app")
      FileUtils.cp_r(APP, root)
      yield root
    end
  end

  # Starts a process in that role; `fds` are given to it under the names of their variables.
  def start(role, root, fds)
    env = { "COATEPEC_ROLE" => role, "COATEPEC_CODE_HASH" => "0123456789abcdef", "RAILS_ENV" => "test" }
    env.merge!(fds.transform_values { |io| io.fileno.to_s })
    streams = { in: File::NULL, out: File::NULL, err: File.join(root, "stderr.txt") }
    pid = spawn(env, RbConfig.ruby, "-e", START, chdir: root, **streams, **fds.values.to_h { |io| [io, io] })
    fds.each_value(&:close)
    pid
  end
end
