# Wants to run in threads, and in processes: a targeted run does neither.
require "test_helper"

ActiveSupport::TestCase.parallelize(workers: 2, threshold: 0)

class ParallelizesTest < InOrder
  parallelize_me!

  RUN_BY = Process.pid

  4.times do |n|
    define_method(:"test_#{n}") do
      assert_equal [RUN_BY, Thread.main], [Process.pid, Thread.current]
    end
  end
end

class ParallelizesInProcessesTest < ActiveSupport::TestCase
  RUN_BY = Process.pid

  4.times do |n|
    test("in this process #{n}") { assert_equal RUN_BY, Process.pid }
  end
end
