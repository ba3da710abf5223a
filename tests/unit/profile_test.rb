# frozen_string_literal: true

require_relative "worker_helper"

%w[json profile].each { |part| require_relative "../../worker/#{part}" }

# A statement without its values.
class SqlShapeTest < Minitest::Test
  Connection = Struct.new(:adapter_name)

  def shape(sql, adapter = "SQLite") = Coatepec::SqlShape.of(sql, Connection.new(adapter))

  def test_what_is_the_same_but_for_its_values_is_the_same
    table = {
      'SELECT "a".* FROM "a" WHERE "a"."id" = 17 LIMIT 1' => 'SELECT "a".* FROM "a" WHERE "a"."id" = ? LIMIT ?',
      'SELECT "a".* FROM "a" WHERE "a"."id" = $1 LIMIT $2' => 'SELECT "a".* FROM "a" WHERE "a"."id" = ? LIMIT ?',
      'SELECT * FROM t1 WHERE "t1"."x" IN (1, 2, 3)' => 'SELECT * FROM t1 WHERE "t1"."x" IN (?)',
      'SELECT * FROM t1 WHERE "t1"."x" IN (?, ?)' => 'SELECT * FROM t1 WHERE "t1"."x" IN (?)',
      'INSERT INTO "t" ("a", "b") VALUES (1, NULL), (2, DEFAULT)' => 'INSERT INTO "t" ("a", "b") VALUES (?)',
      "SELECT  1\n  FROM x" => "SELECT ? FROM x",
      "SELECT 1.5e-3, 0xFF" => "SELECT ?"
    }
    table.each { |sql, told| assert_equal(told, shape(sql), sql) }
  end

  # In whatever way it is written.
  def test_no_value_is_told
    standard = [
      "SELECT 'secret'", "SELECT 'it''s secret'", "SELECT 'secret", "SELECT E'it\\'s secret' FROM a",
      "SELECT X'5ec7e7'",
      "SELECT $$a secret$$", "SELECT $tag$a $$ secret$tag$", "SELECT 1 /* secret */", "SELECT 1 -- secret",
      'SELECT * FROM a WHERE b = "secret"', 'SELECT * FROM a WHERE b LIKE "secret" AND c IN ("x", "secret")',
      'SELECT * FROM a WHERE b BETWEEN "a" AND "secret"', 'INSERT INTO "a" VALUES (1, "secret")', 'SELECT "a secret"',
      "SELECT '\xff secret'"
    ]
    mysql = ["SELECT 'it\\'s secret'", 'SELECT "secret"', 'SELECT "a\"secret"', "SELECT 1 # secret", "SELECT 'secret"]
    standard.each { |sql| refute_match(/secret|5ec7e7/, shape(sql), sql) }
    mysql.product(%w[Mysql2 Trilogy]).each { |sql, adapter| refute_match(/secret/, shape(sql, adapter), sql) }
  end

  def test_names_stay
    joined = 'SELECT "a"."b" FROM "a" INNER JOIN "c" ON "c"."a_id" = "a"."id" ORDER BY "b" ASC'
    [joined, "SELECT t1.x2 FROM t1"].each { |sql| assert_equal(sql, shape(sql)) }
    assert_equal("SELECT `a`.`b` FROM `a`", shape("SELECT `a`.`b` FROM `a`", "Mysql2"))
  end

  def test_a_long_one_is_clipped_and_one_of_nobody_is_none
    assert_operator(shape("SELECT #{"a, " * 99_999}").bytesize, :<, 310)
    assert_equal("", Coatepec::SqlShape.of("", nil))
  end
end

# By a clock that is set.
class ProfileTest < Minitest::Test
  def setup
    @now = now = [0.0]
    Coatepec.define_singleton_method(:clock) { now.first }
  end

  def teardown = Coatepec.singleton_class.remove_method(:clock)

  def timed(part, seconds, **payload)
    part.start("", "", payload)
    @now[0] += seconds
    yield if block_given?
    part.finish("", "", payload)
  end

  def test_time_within_another_factory_counts_once
    made = Coatepec::FactoryProfile.new
    timed(made, 1, name: :order, strategy: :create) do
      timed(made, 2, name: :customer, strategy: :create)
      timed(made, 4, name: :order, strategy: :build) { timed(made, 8, name: :customer, strategy: :create) }
    end
    timed(made, 16, name: :customer, strategy: :build)
    total = made.total
    assert_equal([5, 31.0, 2], total.values_at(:count, :seconds, :names))
    assert_equal(
      [{ name: "customer", strategies: { "create" => 2, "build" => 1 }, seconds: 26.0, own: 26.0, raised: 0 },
       { name: "order", strategies: { "build" => 1, "create" => 1 }, seconds: 15.0, own: 5.0, raised: 0 }],
      total[:by_name]
    )
  end

  # As Rails says that what it tells of has raised.
  RAISED = { exception: ["ActiveRecord::RecordInvalid", "no"] }.freeze

  def test_what_raised_made_nothing_and_took_its_time
    made = Coatepec::FactoryProfile.new
    timed(made, 1, name: :order, strategy: :create, **RAISED) { timed(made, 2, name: :customer, strategy: :create) }
    assert_equal({ count: 1, seconds: 3.0, raised: 1, names: 2 }, made.total.except(:by_name))
    assert_equal(
      [{ name: "customer", strategies: { "create" => 1 }, seconds: 2.0, own: 2.0, raised: 0 },
       { name: "order", strategies: {}, seconds: 3.0, own: 1.0, raised: 1 }],
      made.total[:by_name]
    )
  end

  def test_a_query_that_failed_was_asked
    sql = Coatepec::SqlProfile.new
    timed(sql, 1, sql: "SELECT 1")
    timed(sql, 1, sql: "SELECT nonsense", **RAISED)
    assert_equal([2, 1, 2.0], sql.total.values_at(:count, :failed, :seconds))
  end

  def test_queries_are_counted_by_their_shape_and_those_of_rails_and_its_cache_apart
    sql = Coatepec::SqlProfile.new
    3.times { |id| timed(sql, 1, sql: "SELECT * FROM a WHERE id = #{id}", name: "A Load") }
    timed(sql, 8, sql: "SELECT sleep(8)", name: nil)
    timed(sql, 1, sql: "SELECT 1", cached: true)
    timed(sql, 1, sql: "PRAGMA x", name: "SCHEMA")
    timed(sql, 1, sql: "BEGIN", name: "TRANSACTION")
    total = sql.total
    assert_equal([4, 11.0, 1, 2], total.values_at(:count, :seconds, :cached, :statements))
    queries = total[:queries].map { |query| query.values_at(:sql, :count, :seconds) }
    assert_equal([["SELECT sleep(?)", 1, 8.0], ["SELECT * FROM a WHERE id = ?", 3, 3.0]], queries)
  end

  def test_however_many_different_ones_there_are_few_are_kept_and_all_are_counted
    sql = Coatepec::SqlProfile.new
    5000.times { |n| timed(sql, 1, sql: "SELECT a#{n}") }
    total = sql.total
    assert_equal([5000, Coatepec::SqlProfile::STATEMENTS], total.values_at(:count, :statements))
    assert_operator(total[:queries].size, :<=, 10)
    made = Coatepec::FactoryProfile.new
    5000.times { |n| timed(made, 1, name: "f#{n}", strategy: :build) }
    assert_equal([5000, 20], [made.total[:count], made.total[:by_name].size])
  end

  # What a test may do to what it is told of: nothing of it may be noticed there.
  def test_odd_notifications_raise_nothing
    sql = Coatepec::SqlProfile.new
    sql.finish("", "", {})
    timed(sql, 1, sql: BasicObject)
    timed(sql, 1, sql: nil)
    timed(sql, 1, sql: "SELECT '\xff'".b)
    assert_equal(3, sql.total[:count])
  end
end
