# Stubs what a reporter needs (JSON, IO, File, the pid), for good.
require "test_helper"
require "json"

class StubsEverythingTest < InOrder
  def test_1_stubs
    JSON.define_singleton_method(:generate) { |*| "{}" }
    File.define_singleton_method(:read) { |*| raise Errno::ENOENT }
    Process.define_singleton_method(:pid) { 1 }
    Process.define_singleton_method(:clock_gettime) { |*| 0 }
    IO.define_method(:write) { |*| 0 }
  end

  def test_2_fails = assert_equal(2, Process.pid)

  def test_3_passes = assert_equal("{}", JSON.generate([ 1 ]))
end
