# Has names of several lines, with colours, marks of all kinds, and of great length; and one name twice.
require "test_helper"

class OddNamesTest < InOrder
  define_method("test_1 has\nthree\nlines") { assert true }
  define_method("test_2 is \e[31mred\e[0m") { assert_equal 2, 1 }
  define_method("test_3 is OddNamesTest#test: 1[1:2] /x/ $(id) ; 'a' \"b\"") { assert_equal 2, 1 }
  define_method("test_4 is long: #{"ü" * 500}") { assert_equal 2, 1 }
end

2.times do
  Class.new(InOrder) do
    define_method(:test_nameless) { assert true }
  end
end
