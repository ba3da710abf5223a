# frozen_string_literal: true

require_relative "worker_helper"
require "bigdecimal"

load File.join(Started::TREE, "worker.rb")
%w[json record failure wire].each { |part| load File.join(Started::TREE, "worker/#{part}.rb") }

# What is an app's own code is below here.
Dir.chdir(__dir__)

class JsonTest < Minitest::Test
  Json = Coatepec::Json

  def back(object) = JSON.parse(Json.line(object))

  def test_a_line_is_one_line
    line = Json.line({ text: "a\nb\r\u2028c" })
    assert_equal(1, line.count("\n"))
    assert(line.end_with?("}\n"))
  end

  def test_what_is_plain_comes_back_as_it_was
    plain = { "a" => [1, -2.5, true, false, nil, "ü", ""], "b" => { "c" => 2**70 } }
    assert_equal(plain, back(plain))
  end

  def test_what_json_does_not_have_becomes_what_it_has
    table = {
      Float::NAN => nil, Float::INFINITY => nil, -Float::INFINITY => nil, :name => "name", 1r => "1/1",
      BigDecimal("1.5") => "0.15e1", (1..2) => "1..2", String => "String"
    }
    table.each { |object, json| assert_equal([json], back([object])) }
    assert_equal({ "1" => "x", "b" => "y" }, back({ 1 => "x", b: "y" }))
  end

  def test_bytes_that_are_no_text_are_replaced
    table = {
      "a\xFFb" => "a\u{FFFD}b", "\xE2\x82" => "\u{FFFD}", "\xC0\x80" => "\u{FFFD}\u{FFFD}",
      "ü\xFF".b => "ü\u{FFFD}", "\u0000" => "\u0000", "\xED\xA0\x80" => "\u{FFFD}\u{FFFD}\u{FFFD}"
    }
    table.each { |text, shown| assert_equal(shown, Json.text(text), text.inspect) }
  end

  def test_text_in_other_encodings_is_read_as_what_it_is
    table = {
      "grün".encode("ISO-8859-1") => "grün", "grün".encode("UTF-16LE") => "grün", "grün".encode("UTF-16") => "grün",
      "grün".encode("UTF-32BE") => "grün", "日本".encode("Shift_JIS") => "日本", "日本".encode("ISO-2022-JP") => "日本",
      "plain".encode("US-ASCII") => "plain", "gr\xFCn".dup.force_encoding("US-ASCII") => "gr\u{FFFD}n",
      "\x00".dup.force_encoding("UTF-16LE") => "\u{FFFD}"
    }
    table.each { |text, shown| assert_equal(shown, Json.text(text), text.inspect) }
  end

  # Whatever bytes, in whatever encoding Ruby knows. (The converters from UTF8-KDDI and its like let some through.)
  def test_no_string_makes_it_raise
    random = Random.new(4711)
    Encoding.list.each do |encoding|
      [(0..255).to_a.pack("C*"), random.bytes(99), "abc", ""].each do |bytes|
        text = back([bytes.dup.force_encoding(encoding)]).first
        assert(text.valid_encoding? && text.encoding == Encoding::UTF_8, encoding.name)
      end
    end
  end

  def test_a_string_may_be_frozen_and_of_a_class_of_its_own_and_stays_as_it_is
    odd = Class.new(String) { def to_s = raise("no") }.new("a\xFF").freeze
    assert_equal("a\u{FFFD}", back([odd]).first)
    assert_equal("a\xFF", odd)
  end

  # Apps patch JSON, and specs stub it.
  def test_it_does_not_depend_on_what_becomes_of_json
    JSON.stub(:generate, ->(*) { raise "stubbed" }) do
      JSON.stub(:parse, ->(*) { raise "stubbed" }) do
        assert_equal({ a: 1 }, Json.parse(Json.line({ a: 1 })))
      end
    end
  end

  def test_what_is_read_may_be_binary
    assert_equal({ name: "grün" }, Json.parse("{\"name\": \"grün\"}\n".b.freeze))
  end
end

class FailureTest < Minitest::Test
  Failure = Coatepec::Failure

  # An exception with that message, or with the message that the block gives.
  def error(message = nil, klass = StandardError, &block)
    klass.new(message).tap { |error| error.define_singleton_method(:message, &block) if block }
  end

  def raised(klass = Exception)
    yield
    flunk("nothing was raised")
  rescue klass => e
    e
  end

  # As the supervisor reads it.
  def of(error) = JSON.parse(Coatepec::Json.line(Failure.of(error)))

  def test_an_exception_is_its_class_message_and_place
    line = __LINE__ + 1
    failure = of(raised { raise ArgumentError, "no" })
    assert_equal("ArgumentError", failure["class"])
    assert_match(/\Ano$/, failure["message"])
    assert_match(/worker_test\.rb:#{line}:/, failure["frames"].first)
    assert_equal([nil, [], []], failure.values_at("location", "causes", "parts"))
  end

  def test_a_message_that_raises_costs_only_itself
    table = {
      -> { raise "oops" } => "(#message of the exception raised RuntimeError)",
      -> { raise Class.new(IOError), "no" } => "(#message of the exception raised anonymous subclass of IOError)",
      -> { exit } => "(#message of the exception raised SystemExit)",
      -> { raise NotImplementedError } => "(#message of the exception raised NotImplementedError)",
      -> { undefined_thing } => "(#message of the exception raised NameError)"
    }
    table.each { |message, shown| assert_equal(shown, of(error(&message))["message"]) }
  end

  def test_a_message_may_be_anything
    { nil => "", 42 => "42", :x => "x", "a\xFF" => "a\u{FFFD}", "ü".encode("UTF-16") => "ü" }.each do |message, shown|
      assert_equal(shown, of(error { message })["message"])
    end
  end

  def test_a_message_that_raises_where_the_details_are_made_costs_only_itself
    error = NameError.new("x")
    error.define_singleton_method(:detailed_message) { |**| raise "oops" }
    assert_equal("(#message of the exception raised RuntimeError)", of(error)["message"])
  end

  def test_what_ruby_adds_to_a_message_is_kept_and_the_class_is_not_said_twice
    cart = Class.new { def total = 1 }.new
    error = raised { cart.totl }
    message = of(error)["message"]
    assert_match(/undefined method .totl/, message)
    assert_match(/Did you mean\?\s+total/, message)
    refute_match(/NoMethodError/, message)
  end

  def test_a_long_message_keeps_its_start_and_its_end_and_says_what_is_missing
    { "a" => 100_000, "é" => 50_000, "日" => 33_334 }.each do |letter, count|
      message = of(error("start#{letter * count}end"))["message"]
      assert(message.start_with?("start#{letter}") && message.end_with?("#{letter}end"), letter)
      assert_operator(message.bytesize, :<, Failure::MESSAGE_BYTES + 100)
      assert_match(/^… \d+ bytes left out …$/, message)
      refute_includes(message, "\u{FFFD}")
    end
  end

  def test_a_class_without_a_name_is_called_by_what_it_is
    odd = Class.new(Class.new(IOError)) { def self.name = raise("no") }
    assert_equal("anonymous subclass of IOError", of(odd.new)["class"])
    named = Class.new(StandardError) { def self.to_s = raise("no") }
    self.class.const_set(:Named, named)
    assert_equal("FailureTest::Named", of(named.new)["class"])
  end

  def endless(depth) = endless(depth + 1) + 1

  def test_a_stack_overflow_shows_both_of_its_ends_and_not_more
    error = raised(SystemStackError) { endless(0) }
    assert_operator(error.backtrace.size, :>, 1000)
    frames = of(error)["frames"]
    assert_operator(frames.size, :<=, Failure::FRAMES + 1)
    assert_equal(1, frames.grep(/\A\(\d+ frames left out\)\z/).size)
    assert_match(/endless/, frames.first)
    assert_match(/test_a_stack_overflow/, frames.join)
  end

  def test_frames_of_the_app_come_before_those_of_others
    error = error("no")
    own = ["#{__dir__}/a.rb:2", "./b.rb:5"]
    error.set_backtrace(["/gems/x.rb:1", own[0], "<internal:kernel>:3", "coatepec/worker.rb:4", own[1]])
    assert_equal(own, of(error)["frames"])
    error.set_backtrace((1..99).map { |line| "/gems/x.rb:#{line}" })
    assert_equal((1..Failure::FOREIGN_FRAMES).map { |line| "/gems/x.rb:#{line}" }, of(error)["frames"])
  end

  def test_a_backtrace_that_is_none_is_empty
    assert_equal([], of(error("no"))["frames"])
    [-> { raise "no" }, -> { [1, 2] }, -> { "one" }].each do |backtrace|
      error = error("no")
      error.define_singleton_method(:backtrace, &backtrace)
      assert_kind_of(Array, of(error)["frames"])
    end
  end

  def nested(depth)
    raise "level #{depth}" if depth.zero?

    begin
      nested(depth - 1)
    rescue StandardError
      raise "level #{depth}"
    end
  end

  def test_of_a_deep_chain_of_causes_the_first_are_told
    failure = of(raised { nested(10) })
    levels = []
    while failure
      levels << failure["message"][/\d+/].to_i
      failure = failure["causes"].first
    end
    assert_equal([10, 9, 8, 7], levels)
  end

  # Some exceptions have a cause of their own idea.
  def test_a_cause_that_is_none_is_left_out
    ["card expired", :expired, { code: 1 }].each do |cause|
      error = error("declined")
      error.define_singleton_method(:cause) { cause }
      assert_equal([], of(error)["causes"])
    end
    error = error("declined")
    error.define_singleton_method(:cause) { raise "no" }
    assert_equal(["declined", []], of(error).values_at("message", "causes"))
  end

  # The supervisor takes no longer line (src/process/lines.rs).
  def test_a_failure_fits_in_a_line_whatever_it_holds
    part = raised { nested_with("\u0001" * 20_000, 3) }
    part.set_backtrace(Array.new(60) { "#{__dir__}/#{"d" * 30_000}.rb:1" })
    error = aggregated { [part] * 20 }
    assert_operator(Coatepec::Json.line(Failure.of(error)).bytesize, :<, 1024 * 1024)
  end

  def nested_with(message, depth)
    raise message if depth.zero?

    begin
      nested_with(message, depth - 1)
    rescue StandardError
      raise message
    end
  end

  def aggregated(&exceptions)
    error("many").tap { |error| error.define_singleton_method(:all_exceptions, &exceptions) }
  end

  def test_an_aggregated_failure_has_parts
    one = raised { raise IOError, "one" }
    parts = of(aggregated { [one, RuntimeError.new("two")] })["parts"]
    assert_equal([%w[IOError one], %w[RuntimeError two]], parts.map { |part| part.values_at("class", "message") })
    assert_match(/worker_test/, parts.first["frames"].first)
  end

  def test_of_many_parts_the_first_are_told_and_parts_have_none
    part = aggregated { [RuntimeError.new("deeper")] }
    parts = of(aggregated { [part] * 50 })["parts"]
    assert_equal(Failure::PARTS, parts.size)
    assert_equal([], parts.first["parts"])
  end

  def test_parts_that_can_not_be_had_are_none
    assert_equal([], of(aggregated { raise "no" })["parts"])
    assert_equal([], of(aggregated { nil })["parts"])
  end

  def test_a_syntax_error_knows_its_place
    Dir.mktmpdir do |dir|
      path = File.join(dir, "cart.rb")
      File.write(path, "class Cart\nend\n)\n")
      failure = of(raised(SyntaxError) { load(path) })
      assert_equal({ "file" => path, "line" => 3 }, failure["location"])
    end
  end

  # Ruby has two parsers, and each has a way to say it.
  def test_the_place_of_a_syntax_error_is_read_from_either_kind_of_message
    table = {
      "/app/a.rb:7: syntax error, unexpected `end'" => { "file" => "/app/a.rb", "line" => 7 },
      "/app/a.rb:7: syntax errors found (SyntaxError)\n   6 | x\n>  7 | )\n    | ^ unexpected ')'" =>
        { "file" => "/app/a.rb", "line" => 7 }
    }
    table.each { |message, place| assert_equal(place, of(SyntaxError.new(message))["location"], message) }
  end

  def test_a_text_that_raises_or_is_long_is_guarded
    assert_equal("42", Failure.guard("x") { 42 })
    assert_equal("(a filter raised RuntimeError)", Failure.guard("a filter") { raise "no" })
    assert_operator(Failure.guard("x") { "é" * 99_999 }.bytesize, :<, Failure::MESSAGE_BYTES + 100)
  end
end

class WireTest < Minitest::Test
  def setup
    @ours, @theirs = UNIXSocket.pair
    @wire = Coatepec::Wire.new(@theirs)
  end

  def teardown = [@ours, @theirs].each(&:close)

  def asks(text, *ios)
    rights = ios.empty? ? [] : [Socket::AncillaryData.unix_rights(*ios)]
    sent = @ours.sendmsg(text, 0, nil, *rights)
    @ours.write(text.byteslice(sent..))
  end

  def question(id, name, fields = {}, fds: 0) = "#{JSON.generate({ id: id, fds: fds, ask: { name => fields } })}\n"

  # Everything that was asked until the other end hung up.
  def heard
    @ours.close_write
    questions = []
    @wire.each_question { |name, fields, ios| questions << [name, fields, ios] }
    questions
  end

  def test_questions_come_one_by_one_however_they_were_sent
    asks(question(1, "ping") + question(2, "reap", { pid: 7 }))
    question(3, "boot", { root: "/srv/grün" }).b.each_char { |byte| asks(byte) }
    assert_equal([[:ping, {}, []], [:reap, { pid: 7 }, []], [:boot, { root: "/srv/grün" }, []]], heard)
  end

  def test_descriptors_arrive_with_the_question_that_counts_them
    reads, writes = Array.new(3) { IO.pipe }.transpose
    asks(question(1, "zygote", fds: 2), *writes.first(2))
    asks(question(2, "ping"))
    asks(question(3, "run", fds: 1), writes.last)
    writes.each(&:close)
    ios = heard.map(&:last)
    assert_equal([2, 0, 1], ios.map(&:size))
    ios.flatten.zip(%w[one two three]) { |io, word| io << word && io.close }
    assert_equal(%w[one two three], reads.map(&:read))
  end

  def test_as_many_descriptors_arrive_as_a_run_takes_in_a_line_of_any_length
    null = File.open(File::NULL, "w")
    reading = Thread.new { @wire.to_enum(:each_question).first }
    asks(question(1, "run", { arguments: ["x" * 500_000] }, fds: 4), null, null, null, null)
    name, fields, ios = reading.value
    assert_equal([:run, 500_000, 4], [name, fields[:arguments].first.size, ios.size])
  end

  def test_half_a_question_at_the_end_is_none
    asks("#{question(1, "ping")}{\"id\": 2, \"fds\": 0, \"as")
    assert_equal([[:ping, {}, []]], heard)
  end

  def test_an_answer_carries_the_number_of_its_question_and_what_is_said_unasked_none
    asks(question(7, "ping") + question(8, "reap", { pid: 1 }))
    @wire.tell("hello", pid: 70)
    @ours.close_write
    @wire.each_question { |name, *| @wire.answer("pong", name: name) }
    assert_equal(
      [{ id: nil, told: { hello: { pid: 70 } } }, { id: 7, told: { pong: { name: "ping" } } },
       { id: 8, told: { pong: { name: "reap" } } }],
      Array.new(3) { JSON.parse(@ours.gets, symbolize_names: true) }
    )
  end

  def test_that_nobody_listens_any_more_is_no_error
    @ours.close
    3.times { assert_nil(@wire.tell("hello", text: "x" * 100_000)) }
    @wire.each_question { flunk }
  end
end

class RecordsTest < Minitest::Test
  def setup
    @read, @write = IO.pipe
    @records = Coatepec::Records.new(@write)
  end

  def teardown = [@read, @write].each(&:close)

  def told
    @write.close
    @read.each_line.map { |line| JSON.parse(line) }
  end

  def test_a_record_says_who_wrote_it_when_and_what_happened
    before = now
    @records.emit("exit", status: 0)
    @records.emit("hello")
    records = told
    happened = [{ "exit" => { "status" => 0 } }, { "hello" => {} }]
    assert_equal(happened.map { |event| { "pid" => Process.pid, "e" => event } }, records.map { |one| one.except("at") })
    times = [before, *records.map { |one| one["at"] }, now]
    assert_equal(times.sort, times)
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

  def test_another_process_with_the_same_pipe_writes_nothing
    pid = fork do
      @records.emit("exit", status: 0)
      exit!(@records.ours? ? 1 : 0)
    end
    assert_equal(0, Process.wait2(pid).last.exitstatus)
    assert_empty(told)
  end

  # Specs stub it, and pretend to be who they like.
  def test_a_stub_of_the_pid_changes_nothing
    Process.stub(:pid, 1) { @records.emit("hello") }
    assert_equal([Process.pid], told.map { |record| record["pid"] })
  end

  def test_a_record_larger_than_the_pipe_arrives_whole
    reading = Thread.new { @read.gets }
    @records.emit("message", text: "x" * 900_000)
    assert_equal(900_000, JSON.parse(reading.value).dig("e", "message", "text").size)
  end

  def test_a_pipe_that_is_gone_is_no_error
    @read.close
    assert_nil(@records.emit("hello"))
    @write.close
    assert_nil(@records.emit("hello"))
  end

  # Written at once, past Ruby's buffers, which a fork would copy.
  def test_nothing_is_left_in_a_buffer
    @records.emit("hello")
    assert_match(/hello/, @read.read_nonblock(1000))
  end
end
