# frozen_string_literal: true

# The floor: the least that a run in a fork of a warm process can cost. Boots the app, loads the helper, and for each
# line on stdin forks, runs SPEC in the child with RSpec's own runner, and prints how many milliseconds that took from
# the fork to the end of the child. No supervision, no protocol, no capture, no report, no check for changed files.
#
#   cd APP && ruby floor.rb SPEC
#
# It prepares what a warm process can: the app is eager loaded, the tables are known, memory is compacted. Otherwise it
# would be easy to be faster.

spec = ARGV.fetch(0)
ENV["RAILS_ENV"] = "test"
require "bundler/setup"
require "rspec/core"
RSpec::Core::Runner.disable_autorun!
$LOAD_PATH.unshift(File.expand_path("lib"), File.expand_path("spec"))

options = RSpec::Core::ConfigurationOptions.new([])
options.options[:requires].each { |file| require file }
require(File.file?("spec/rails_helper.rb") ? "rails_helper" : "spec_helper")
Rails.application.eager_load!
ActiveRecord::Base.descendants.each { |model| model.load_schema if !model.abstract_class? && model.table_exists? }
ActiveRecord::Base.connection_handler.clear_all_connections!(:all)
Process.respond_to?(:warmup) ? Process.warmup : GC.start

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)

def run(spec)
  STDOUT.reopen(File::NULL)
  STDERR.reopen(File::NULL)
  exit!(RSpec::Core::Runner.run([spec]))
end

while $stdin.gets
  started = clock
  _, status = Process.wait2(fork { run(spec) })
  took = clock - started
  abort "the floor's run of #{spec} did not pass" unless status.success?
  puts took
  $stdout.flush
end
