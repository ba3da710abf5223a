# Has tests in words without a name, tests of one line, and two that have one name.
require "test_helper"
require "minitest/spec"

describe [ 1, 2 ] do
  subject { [ 1, 2 ] }

  it { _(subject).must_include 1 }
  it { _(subject).must_include 3 }
  specify { skip }

  2.times { |n| it("comes from one line") { _(n).must_equal 0 } }
end
