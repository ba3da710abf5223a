# Lowers its limit of open files to what is open already.
require "test_helper"

class LowFdLimitTest < InOrder
  def test_1_lowers_the_limit = Process.setrlimit(:NOFILE, File.open(File::NULL) { |file| file.fileno })

  def test_2_opens_a_file = File.read(__FILE__)

  def test_3_passes = assert(true)
end
