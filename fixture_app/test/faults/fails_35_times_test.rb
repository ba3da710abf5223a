# Fails 35 times.
require "test_helper"

class Fails35TimesTest < InOrder
  35.times do |n|
    define_method(:"test_#{n}") { assert_equal n, "not #{n}" }
  end
end
