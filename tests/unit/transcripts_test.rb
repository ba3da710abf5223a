# frozen_string_literal: true

require_relative "worker_helper"

# The transcripts are what the supervisor reads. Here the Ruby side has the same conversations for real, and must say
# the same: the same messages in the same order with the same fields, and the same in them, as far as it is the same on
# every machine.
class TranscriptsTest < Minitest::Test
  include Started

  # Where only the kind of the value counts.
  VOLATILE = %w[
    pid at seconds code ruby rails rspec minitest message text frames features native threads databases listening
    gemfiles gc_seconds own runs major allocated
    written reload_dirs reload_files app_features config_dirs code_dirs vouched files dirs listings dir pattern
  ].freeze

  # The app's place in the transcripts.
  ROOT = "/srv/shop"

  # Runs of a fresh process.
  %w[passing failing killed exiting forking database many].each do |name|
    define_method("test_a_#{name}_run") { assert_run(name, spawned("#{name}_spec.rb")) }
  end

  def test_a_run_that_notices_a_refusal
    assert_run("refusing", spawned("refusing_spec.rb", notice_refusals: true))
  end

  def test_a_run_that_tells_where_its_time_goes = assert_run("profiled", spawned("profiled_spec.rb", profile: true))

  # Asked and ended as the supervisor does it, once it sleeps.
  def test_a_hanging_run
    events = spawned("hanging_spec.rb", seed: 4711) do |pid, root, event|
      sleep(0.01) until event != "example_started" || File.exist?("#{root}/asleep")
      Process.kill(:QUIT, pid) if event == "example_started"
      Process.kill(:TERM, pid) if event == "threads"
    end
    assert_run("hanging", events)
  end

  def test_a_run_that_is_measured
    coverage = %w[app/models/cart.rb config/environment.rb spec/gone_spec.rb]
    assert_run("covering", spawned("covering_spec.rb", coverage: coverage))
  end

  def test_a_listing = assert_run("listing", spawned("passing_spec.rb", list: true))

  def test_a_run_of_minitest
    file = "test/minitest_test.rb"
    whole = { path: file, lines: [], ids: [], name: nil }
    chosen = [whole, { **whole, name: "test_z" }]
    assert_run("minitest", spawned("", framework: "minitest", files: [file], chosen: chosen, seed: 17))
  end

  def test_a_run_of_a_file_that_can_not_be_loaded = assert_run("load_error", spawned("broken_spec.rb"))

  def test_a_run_in_which_nothing_matches = assert_run("no_examples", spawned("passing_spec.rb", example: "Nothing"))

  # The warm process, from its first word to its end.
  def test_a_worker_its_app_and_zygote_and_their_runs
    in_app do |root|
      worker = worker(root)
      worker.replay("boot")
      %w[ping facts refused].each { |name| worker.replay(name) }
      app = app(worker, root)
      %w[ping facts refused].each { |name| app.replay(name) }
      zygote = forked(app, root, "zygote")
      zygote.replay("loaded")
      %w[ping facts refused].each { |name| zygote.replay(name) }
      zygote.replay("run") { |events| assert_run("forked", events) }
      zygote.replay("run_killed")
      reader = forked(app, root, "reader")
      %w[read_failed read not_read].each { |name| reader.replay(name) }
      [reader, zygote, app, worker].each(&:hang_up)
    end
  end

  def test_apps_of_other_code
    in_app do |root|
      worker = worker(root)
      worker.replay("boot")
      File.write("#{root}/app/models/cart.rb", "class Cart; oops; end")
      app(worker, root, "eager_load_error").hang_up
      File.write("#{root}/config/routes.rb", "# frozen_string_literal: true\n\n)\n")
      app(worker, root, "app_failed").hang_up
      worker.replay("ping")
      worker.hang_up
    end
  end

  # By another process, after the helper had connected.
  def test_a_fork_that_would_find_other_tables
    in_app do |root|
      File.write("#{root}/spec/rails_helper.rb", <<~RUBY)
        require "active_record"
        ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: "#{root}/carts.sqlite3")
        ActiveRecord::Base.connection.create_table(:carts)
      RUBY
      worker = worker(root)
      worker.replay("boot")
      app = app(worker, root)
      zygote = forked(app, root, "zygote")
      zygote.replay("loaded")
      SQLite3::Database.new("#{root}/carts.sqlite3").execute("CREATE TABLE orders (id)")
      zygote.replay("run") { |events| assert_run("outdated", events) }
      [zygote, app, worker].each(&:hang_up)
    end
  end

  def test_a_boot_that_fails
    in_app do |root|
      File.write("#{root}/config/environment.rb", "# frozen_string_literal: true\n\n)\n")
      worker = worker(root)
      worker.replay("boot_failed")
      worker.replay("ping")
      worker.hang_up
    end
  end

  def test_a_helper_that_can_not_be_loaded
    in_app do |root|
      File.write("#{root}/spec/rails_helper.rb", 'abort "migrations are pending"')
      worker = worker(root)
      worker.replay("boot")
      app = app(worker, root)
      zygote = forked(app, root, "zygote")
      zygote.replay("load_failed")
      zygote.hang_up
      app.replay("ping")
      [app, worker].each(&:hang_up)
    end
  end

  # The other end of a socket, following a transcript.
  class Conversation
    def initialize(test, socket, root, null)
      @test = test
      @socket = socket
      @root = root
      @null = null
      @pids = {}
    end

    # Asks what the transcript asks, expects what it was told. Yields the records of each run that it asks for.
    def replay(name, &)
      asked = nil
      @test.golden(name).each do |line|
        if line["ask"]
          asked = ask(line)
        else
          told = JSON.parse(@socket.gets || @test.flunk("#{name}: hung up before #{line}\n#{last_words}"))
          @test.assert_like(line, @test.placed(told, @root), name)
          follow(line["told"], told["told"], asked, &)
        end
      end
    end

    # The other side ends when we do.
    def hang_up
      @socket.close_write
      @test.assert_nil(@socket.gets)
      @socket.close
    end

    # What a new app, zygote or reader speaks to.
    attr_reader :given

    private

    def last_words = File.read(File.join(@root, "stderr.txt"))

    def ask(line)
      name = line["ask"].keys.first
      ios = ios_for(name)
      @test.assert_equal(line["fds"], ios.size, line.to_s)
      rights = ios.empty? ? [] : [Socket::AncillaryData.unix_rights(*ios)]
      @socket.sendmsg("#{JSON.generate(here(line))}\n", 0, nil, *rights)
      (ios - [@null]).each(&:close)
      name
    end

    # The question with the places and processes of this machine.
    def here(line)
      question = JSON.parse(JSON.generate(line).gsub(ROOT, @root))
      pid = question.dig("ask", "reap", "pid")
      question["ask"]["reap"]["pid"] = @pids.fetch(pid) if pid
      question
    end

    def ios_for(question)
      case question
      when "app", "zygote", "reader"
        @given, theirs = UNIXSocket.pair
        [theirs, @null, @null]
      when "run"
        @events, events = IO.pipe
        go, @go = IO.pipe
        [@null, @null, events, go]
      else []
      end
    end

    def follow(line, told, asked)
      return unless line["forked"]

      @pids[line["forked"]["pid"]] = told["forked"]["pid"]
      return unless asked == "run"

      @go << "g"
      @go.close
      records = @events.each_line.map { |record| @test.placed(JSON.parse(record), @root) }
      yield records if block_given?
    end
  end

  def golden(name)
    File.readlines(File.join(__dir__, "transcripts", "#{name}.ndjson")).map { |line| JSON.parse(line) }
  end

  # As if the app were where it is in the transcripts.
  def placed(line, root) = JSON.parse(JSON.generate(line).gsub(root, ROOT))

  def assert_like(golden, actual, where)
    wrong = difference(golden, actual, [])
    lines = [golden, actual].map { |line| JSON.generate(line) }
    assert_nil(wrong, "#{where}: #{wrong}\n  transcript: #{lines.first}\n  worker:     #{lines.last}")
  end

  private

  def assert_run(name, events)
    lines = golden(name)
    assert_equal(lines.map { |line| line["e"].keys }, events.map { |line| line["e"].keys }, name)
    assert_equal(1, events.map { |line| line["pid"] }.uniq.size, "records of one process only")
    lines.zip(events) { |line, event| assert_like(line, event, name) }
  end

  # The first place where two lines differ, if they do.
  def difference(golden, actual, path)
    volatile = VOLATILE.include?(path.grep(String).last) || (path.last == "seed" && golden == 17)
    case golden
    when Hash then differs(golden, actual, path)
    when Array then items_differ(golden, actual, path, volatile)
    else
      same = volatile ? kind(golden) == kind(actual) : golden == actual
      "#{path.join("/")}: #{golden.inspect} is #{actual.inspect}" unless same
    end
  end

  def differs(golden, actual, path)
    return "#{path.join("/")} is #{actual.inspect}" unless actual.is_a?(Hash)
    return "#{path.join("/")} has #{actual.keys}, not #{golden.keys}" unless golden.keys == actual.keys

    golden.filter_map { |key, value| difference(value, actual[key], path + [key]) }.first
  end

  def items_differ(golden, actual, path, volatile)
    return "#{path.join("/")} is #{actual.inspect}" unless actual.is_a?(Array)
    return "#{path.join("/")} has #{actual.size} items" unless volatile || golden.size == actual.size

    differences = actual.each_with_index.filter_map do |item, at|
      difference(volatile ? golden.first : golden[at], item, path + [at])
    end
    differences.first
  end

  def kind(value) = value.is_a?(Integer) ? "integer" : value.class.name

  # The records of a run in a fresh process. Yields its pid, the app and the name of each as it comes.
  def spawned(file, **request)
    in_app do |root|
      events, theirs = IO.pipe
      body, out = IO.pipe
      out << JSON.generate(request(root, file, **request))
      out.close
      pid = start("spawn", root, "COATEPEC_EVENTS_FD" => theirs, "COATEPEC_REQUEST_FD" => body)
      records = events.each_line.map do |line|
        JSON.parse(line).tap { |record| yield pid, root, record["e"].keys.first if block_given? }
      end
      Process.wait(pid)
      records.map { |record| placed(record, root) }
    end
  end

  def request(root, file, **more)
    {
      run: "run-1", root: root, mode: "spawn", framework: "rspec", arguments: ["./spec/#{file}"],
      files: ["spec/#{file}"], chosen: [], directories: [], named: ["spec/#{file}"],
      example: nil, seed: nil, fail_fast: false, list: false, profile: false, max_file_bytes: 1 << 32, **more
    }
  end

  def worker(root)
    ours, theirs = UNIXSocket.pair
    start("worker", root, "COATEPEC_SOCKET_FD" => theirs)
    Conversation.new(self, ours, root, null)
  end

  # What is forked when it is asked for.
  def forked(parent, root, question)
    parent.replay(question)
    Conversation.new(self, parent.given, root, null)
  end

  def app(worker, root, says = "ready")
    forked(worker, root, "app").tap { |app| app.replay(says) }
  end

  def null = @null ||= File.open(File::NULL, "w")
end
