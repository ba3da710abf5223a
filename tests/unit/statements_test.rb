# frozen_string_literal: true

require "coverage"
require "minitest/autorun"
require "tempfile"

module Coatepec; end

require_relative "../../worker/statements"

# Which line counts for which. Each line of a code names its statement, behind `#=`; what has a `-` there is of none.
class StatementsTest < Minitest::Test
  def within(code)
    Tempfile.create(["code", ".rb"]) do |file|
      file.write(code)
      file.close
      yield file.path
    end
  end

  # All lines of a statement have its count, whichever of them Ruby counts; those of others have theirs.
  def check(code)
    marks = code.lines.map { |line| line[/#= (.)$/, 1] }
    within(code.gsub(/ *#= .$/, "")) do |path|
      counts = ::Coverage.line_stub(path).zip(marks).map { |counted, mark| counted && mark.ord }
      told = Coatepec::Statements.spread(path, counts)
      assert_equal(marks, told.map { |count| count ? count.chr : "-" }, code)
    end
  end

  def test_the_lines_of_a_statement_count_as_one
    check(<<~'RUBY')
      foo(x,         #= a
          bar(       #= a
            y        #= a
          ))         #= -
      h = {          #= b
        a: 1,        #= b
                     #= -
        b: [         #= b
          2          #= b
        ]            #= -
      }              #= -
      x              #= c
        .foo(1)      #= c
        .bar         #= c
        .baz(        #= c
          2          #= c
        )            #= -
      x.             #= d
        foo          #= d
      @a ||=         #= e
        foo          #= e
      z = x &&       #= f
          y          #= f
      raise A,       #= g
        "x" unless x #= g
    RUBY
  end

  def test_a_text_below_its_statement_is_of_it
    check(<<~'RUBY')
      foo(<<~A, <<~B, #= a
        one           #= a
      A               #= a
        two           #= a
                      #= a
      B               #= a
          x)          #= a
      bar             #= b
    RUBY
  end

  def test_what_may_be_executed_without_it_counts_for_itself
    check(<<~'RUBY')
      if x &&        #= a
         y           #= a
        foo(         #= b
          1          #= b
        )            #= -
      elsif y ||     #= c
            z        #= c
        bar          #= d
      else           #= -
        baz          #= e
      end            #= -
      each(1,        #= f
           2) do |m, #= f
                  n| #= -
        foo m,       #= g
            n        #= g
      end.bar        #= f
      begin          #= -
        foo(x,       #= h
            y)       #= h
      rescue A,      #= -
             B       #= -
        bar          #= i
      ensure         #= -
        baz          #= j
      end            #= -
      case x         #= k
      when A,        #= -
           B         #= -
        foo          #= l
      else           #= -
        bar          #= m
      end            #= -
      while x <      #= n
            3        #= n
        foo          #= o
      end            #= -
    RUBY
  end

  def test_what_is_defined_is_not_executed
    check(<<~'RUBY')
      class A < B.new(:a,   #= a
                      :b)   #= a
        has_many :x,        #= b
          foo: -> { bar(    #= c
            :y) }           #= c
        validates :a,       #= d
          presence: true    #= d
        def foo(x,          #= e
                y = 1 +     #= -
                    2,      #= -
                z: {        #= -
                  k: 1      #= -
                })          #= -
          bar               #= f
        end                 #= -
      end                   #= -
    RUBY
  end

  def test_what_can_not_be_told_stays_as_it_was
    assert_equal([nil, 1], Coatepec::Statements.spread("/nowhere.rb", [nil, 1]))
    ["foo(\n", "foo(#{"[" * 100_000}"].each do |code|
      within(code) { |path| assert_equal([1, nil], Coatepec::Statements.spread(path, [1, nil])) }
    end
  end

  # Of a file that was saved since, there may be more or fewer lines than were counted.
  def test_another_number_of_lines_harms_nobody
    within("foo(\n  1,\n  <<~A,\n    a\n  A\n  2\n)\n") do |path|
      assert_equal([7, 7], Coatepec::Statements.spread(path, [7, nil]))
      assert_equal([7, 7, 7, 7, 7, 7, nil, nil], Coatepec::Statements.spread(path, [7] + ([nil] * 7)))
    end
  end
end
