# frozen_string_literal: true

require_relative "worker_helper"
require "bigdecimal"

load File.join(Started::TREE, "worker.rb")
%w[json failure plain reading reading/place reading/text reading/names reading/unloaded reading/attempts reading/page].each do |part|
  load File.join(Started::TREE, "worker/#{part}.rb")
end

# Stands for the app's directory and for what is installed.
Dir.chdir(__dir__)
module Coatepec
  module Boot
    def self.installed?(path) = !path.start_with?(Coatepec.root)

    def self.eager_load_error = nil
  end
end

class TextTest < Minitest::Test
  Text = Coatepec::Reading::Text

  # Raises whatever it is asked, as a proxy or a half-built object may.
  class Sulky < BasicObject
    %i[inspect to_s class name == is_a? respond_to? method_missing].each do |name|
      define_method(name) { |*| ::Kernel.raise }
    end
  end

  def test_what_is_plain_stays_as_it_is
    plain = [nil, true, false, 1, 2**70, 1.5, "text", { "a" => [1, { "b" => nil }] }]
    plain.each { |object| assert_equal([object], [Text.value(object)]) }
  end

  def test_what_json_does_not_have_is_told_as_text
    table = {
      :sym => "sym", %r{a/b}i => "/a\\/b/i", 1..2 => "1..2", 1...2 => "1...2", 1.. => "1..", ..5 => "..5",
      1..Float::INFINITY => "1..Infinity", -Float::INFINITY => "-Infinity", Float::NAN => "NaN", String => "String",
      BigDecimal("1.5") => "0.15e1", 1r => "1/1", { sym: :bol, 1 => 2 } => { "sym" => "bol", "1" => 2 },
      Set[1, 2] => [1, 2], ("a".."c") => "a..c"
    }
    table.each { |object, told| assert_equal([told], [Text.value(object)]) }
  end

  def test_what_is_foreign_is_never_asked
    assert_equal("instance of TextTest::Sulky", Text.value(Sulky.new))
    assert_equal(["instance of TextTest::Sulky"], Text.value([Sulky.new]))
    assert_equal("TextTest::Sulky", Text.callable(Sulky.new))
    assert_equal("TextTest::Sulky", Text.callable(Sulky))
    assert_equal("instance of anonymous subclass of Object", Text.value(Class.new { def to_s = raise }.new))
    assert_equal("instance of anonymous subclass of BasicObject", Text.value(Class.new(BasicObject).new))
  end

  def test_no_address_and_no_absolute_path_is_told
    block = proc {}
    told = Text.options(with: block, m: method(:puts), at: "#{__dir__}/x.rb", o: Object.new, p: [block])
    refute_match(/0x\h+|#{Regexp.escape(__dir__)}/, told.to_s)
    assert_equal("proc at reading_test.rb:#{__LINE__ - 3}", told["with"])
    assert_equal("x.rb", told["at"])
    assert_equal("method puts", told["m"])
  end

  # As in a container.
  def test_an_exception_is_told_without_addresses
    told = Text.failure(RuntimeError.new("at #{Object.new.inspect}"))
    assert_equal(["RuntimeError", "at #<Object:0x…>"], told.values_at(:class, :message))
  end

  def test_a_short_root_is_not_taken_out_of_an_address
    Text.remove_instance_variable(:@places) if Text.instance_variable_defined?(:@places)
    Coatepec.stub(:root, "/app/") do
      assert_equal("lib/x.rb and https://x.example/app/y", Text.text("/app/lib/x.rb and https://x.example/app/y"))
    end
  ensure
    Text.remove_instance_variable(:@places)
  end

  def test_long_lists_are_cut_and_counted
    told = Text.options(in: (1..249).to_a, few: (1..20).to_a, set: Set.new(1..21))
    assert_equal((1..20).to_a + ["… 229 more"], told["in"])
    assert_equal([249, true], told.values_at("in_count", "in_truncated"))
    assert_equal([21, true], told.values_at("set_count", "set_truncated"))
    assert_equal((1..20).to_a, told["few"])
    refute(told.key?("few_count"))
  end

  def test_text_and_depth_are_bounded
    assert_operator(Text.value("x" * 10_000).size, :<, 400)
    assert_match(/… \(10000 characters\)\z/, Text.value("x" * 10_000))
    loop_of = []
    loop_of << loop_of
    assert_equal([[[["…"]]]], Text.value(loop_of))
    assert_equal("a\u{FFFD}", Text.value("a\xFF"))
  end

  def test_a_class_may_have_no_name_or_another_one
    liar = Class.new(String) { def self.name = raise("no") }
    assert_equal("anonymous subclass of String", Text.class_name(liar))
    assert_equal("anonymous module", Text.class_name(Module.new))
    assert_equal("String", Text.class_name(String))
  end
end

class PlaceTest < Minitest::Test
  Place = Coatepec::Reading::Place

  def test_code_of_the_app_is_told_by_its_relative_path
    assert_equal("reading_test.rb:#{__LINE__}", Place.of(proc {}))
    assert_equal("reading_test.rb:#{__LINE__ - 2}", Place.of(method(__method__)))
    assert_match(/\Areading_test\.rb:\d+\z/, Place.of_module(PlaceTest))
    assert_equal("app/ü.rb:3", Place.at("#{Coatepec.root}app/ü.rb", 3))
  end

  def test_code_of_a_gem_is_told_by_the_name_of_the_gem
    assert_equal("gem minitest", Place.of(Minitest::Test.instance_method(:run)))
    refute(Place.own?("gem minitest"))
    assert(Place.own?("app/x.rb:1"))
  end

  def test_code_without_a_place_has_none
    assert_nil(Place.of(method(:puts)))
    assert_nil(Place.of(:name))
    assert_nil(Place.of(eval("proc {}", binding, "(eval)", 1))) # rubocop:disable Style/EvalWithLocation
    assert_nil(Place.of_method(PlaceTest, :nobody))
    assert_nil(Place.of_module(Module.new))
    refute(Place.own?(nil))
  end
end

# Pages of a list of letters, which changes between two of them.
class PageTest < Minitest::Test
  Page = Coatepec::Reading::Page

  def page(rows, **arguments) = Page.of(:rows, rows, { limit: 3, **arguments }, &:itself)

  # As src/reading/page.rs makes it of what it is told.
  def behind(page)
    told = page[:page]
    [page[:next_offset], "0123abcd", told[:revision], *told[:keys].last(3).reverse].join(".")
  end

  def next_of(rows, later, **first)
    page = page(later, cursor: behind(page(rows, **first)))
    [page[:rows].join, page.dig(:page, :since)]
  end

  def test_the_same_list_goes_on_by_number
    letters = %w[a b c d e f g]
    assert_equal(["def", nil], next_of(letters, letters))
    assert_equal(["g", nil], next_of(letters, letters, offset: 3))
    assert_equal(["bbc", nil], next_of(%w[a b b b b c], %w[a b b b b c]))
  end

  def test_a_list_that_changed_goes_on_behind_the_last_row_that_was_told
    table = { "xabcdef" => "def", "acdef" => "def", "abdef" => "def", "bcxdef" => "xde", "abcfed" => "fed",
              "xyzabcdef" => "def", "axxxdef" => "xxx" }
    table.each { |later, rows| assert_equal([rows, "moved"], next_of(%w[a b c d e f], later.chars), later) }
  end

  def test_without_any_of_its_last_rows_the_place_is_lost
    assert_equal(["gh", "lost"], next_of(%w[a b c d e f], %w[d e f g h]))
    assert_equal(["", "lost"], next_of(%w[a b c d e f], []))
  end

  def test_of_rows_that_are_alike_the_nearest_is_meant
    assert_equal(["bcd", "moved"], next_of(%w[b a b b c d], %w[b a b b c d e]).then { |rows, since| [rows, since] })
  end

  def test_a_short_page_remembers_rows_of_the_pages_before
    first = page(%w[a b c d], limit: 1, offset: 1)
    assert_equal([2, 2], [first[:next_offset], first[:page][:keys].size])
    assert_equal("c", page(%w[a c d], limit: 1, cursor: behind(first))[:rows].join)
  end

  def test_the_last_page_has_no_next
    assert_nil(page(%w[a b c])[:next_offset])
    assert_nil(page(%w[a b], offset: 7)[:next_offset])
    assert_equal(3, page(%w[a b c], offset: 7)[:matched])
  end
end

# Constants of a small app.
class Animal; end
class Cat < Animal; end

module Wild
  class Cat < Animal; end

  def self.const_missing(name) = raise("asked for #{name}")
end

class NamesTest < Minitest::Test
  Names = Coatepec::Reading::Names

  def test_only_a_descendant_of_the_kind_is_found
    Names.stub(:file, nil) do
      assert_equal([Cat, Wild::Cat], [Names.find("Cat", Animal), Names.find("Wild::Cat", Animal)])
      others = %w[Animal Kernel String Wild Wild::Dog Wild::Kernel Cat::Cat Object::Cat Nothing RUBY_VERSION::X]
      others.each { |name| assert_nil(Names.find(name, Animal), name) }
    end
  end

  def test_a_malformed_name_is_never_looked_up
    odd = ["", "cat", "::Cat", "Cat::", "A::B; system", "Cat\n", "Cat\u0000", "Ü", "Cat Cat", "Cat.new", "C" * 10_000,
           nil, 7]
    Names.stub(:constant, ->(*) { flunk("looked up") }) do
      odd.each { |name| assert_nil(Names.find(name, Animal), name.inspect[0, 40]) }
    end
  end

  def test_what_waits_to_be_loaded_is_not_loaded_for_a_name_that_no_file_has
    Object.autoload(:WaitingCat, "#{__dir__}/no_such_file.rb")
    Names.stub(:file, nil) { assert_nil(Names.find("WaitingCat", Animal)) }
  ensure
    Object.send(:remove_const, :WaitingCat)
  end

  def test_a_constant_is_known_without_being_loaded
    Object.autoload(:WaitingCat, "#{__dir__}/no_such_file.rb")
    %w[Cat Wild::Cat WaitingCat WaitingCat::Inner RUBY_VERSION Animal].each { |name| assert(Names.known?(name), name) }
    none = %w[Dog Wild::Dog Wild::Animal Wild::String RUBY_VERSION::X Dog::Cat]
    none.each { |name| refute(Names.known?(name), name) }
  ensure
    Object.send(:remove_const, :WaitingCat)
  end

  def test_classes_that_a_reload_replaced_and_classes_without_a_name_are_not_listed
    old = Class.new(Animal)
    Object.const_set(:Reloaded, old)
    Object.send(:remove_const, :Reloaded)
    Object.const_set(:Reloaded, current = Class.new(Animal))
    nameless = Class.new(Animal)
    assert_equal([Cat, current, Wild::Cat], Names.all(Animal))
    refute_nil([old, nameless])
  ensure
    Object.send(:remove_const, :Reloaded)
  end

  def test_what_was_probably_meant_is_told
    error = assert_raises(Coatepec::Reading::Refused) { Names.refuse("cat_not_found", "cat", "Ops::Cat", Names.all(Animal)) }
    assert_equal(["cat_not_found", "the app has no cat `Ops::Cat`"], [error.code, error.message])
    assert_equal("did you mean `Cat`, `Wild::Cat`?", error.hint)
    error = assert_raises(Coatepec::Reading::Refused) { Names.refuse("cat_not_found", "cat", "C" * 10_000, Names.all(Animal)) }
    assert_operator(error.message.size, :<, 100)
    assert_nil(error.hint)
  end
end
