//! What schema files say, read without Ruby and without a database.

use serde_json::{Value, json};

use coatepec::error::{Kind, Result};
use coatepec::reading::schema::{Detail, Schema};
use coatepec::reading::schema_file::{Files, from_files, is_migration, is_schema};
use coatepec::reading::{schema_ruby, schema_sql};

const SCHEMA: &str = include_str!("../../fixture_app/db/schema.rb");
const AUDIT: &str = include_str!("../../fixture_app/db/audit_schema.rb");

fn read(schemas: &[(&str, &str)], migrations: &[&str], arguments: &Schema) -> Result<Value> {
    let schemas: Vec<_> = schemas
        .iter()
        .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()))
        .collect();
    let migrations: Vec<_> = migrations.iter().map(|file| (*file).to_owned()).collect();
    let files = Files {
        schemas: &schemas,
        migrations: &migrations,
    };
    from_files(files, arguments)
}

fn fixture(arguments: &Schema) -> Value {
    read(
        &[("db/audit_schema.rb", AUDIT), ("db/schema.rb", SCHEMA)],
        &[],
        arguments,
    )
    .unwrap()
}

fn of_table(name: &str) -> Schema {
    Schema {
        table: Some(name.to_owned()),
        ..Schema::default()
    }
}

/// The one table of a schema.rb, or of a structure.sql.
fn ruby_table(text: &str) -> Value {
    serde_json::to_value(&schema_ruby::parse(text).tables[0]).unwrap()
}

fn sql_table(text: &str) -> Value {
    serde_json::to_value(&schema_sql::parse(text).tables[0]).unwrap()
}

#[test]
fn paths_of_schema_files_and_migrations_are_known() {
    let schemas = [
        "db/schema.rb",
        "db/audit_schema.rb",
        "db/structure.sql",
        "db/audit_structure.sql",
    ];
    assert!(schemas.into_iter().all(is_schema));
    let others = [
        "schema.rb",
        "db/x/schema.rb",
        "db/schema.rb.bak",
        "db/_schema.rb",
        "db/xschema.rb",
        "app/db/schema.rb",
    ];
    assert!(!others.into_iter().any(is_schema));
    let migrations = [
        "db/migrate/1_a.rb",
        "db/audit_migrate/20240102100000_create_events.rb",
        "db/migrate/x/2_b.rb",
    ];
    assert!(migrations.into_iter().all(is_migration));
    let others = [
        "db/migrate/a.rb",
        "db/migrate/1_a.sql",
        "db/data/1_a.rb",
        "migrate/1_a.rb",
        "db/migrate/1a.rb",
    ];
    assert!(!others.into_iter().any(is_migration));
}

#[test]
fn the_tables_of_all_databases_are_counted_by_default() {
    let answer = fixture(&Schema::default());
    assert_eq!(answer["source"], "schema_file");
    assert_eq!(
        answer["databases"],
        json!([
            { "name": "primary", "file": "db/schema.rb", "version": "20240106090000", "tables": 15 },
            { "name": "audit", "file": "db/audit_schema.rb", "version": "20240102100000", "tables": 1 },
        ])
    );
    assert_eq!(answer["matched"], 16);
    let tables = answer["tables"].as_array().unwrap();
    assert_eq!(
        tables[14],
        json!({ "name": "widgets", "primary_key": "id", "columns": 12, "indexes": 3, "foreign_keys": 1 })
    );
    assert_eq!(
        tables[15],
        json!({ "name": "events", "database": "audit", "primary_key": "id", "columns": 5, "indexes": 1, "foreign_keys": 0 })
    );
    assert_eq!(answer.get("next_offset"), None);
}

#[test]
fn a_table_is_told_in_full() {
    let answer = fixture(&of_table("widgets"));
    assert_eq!(answer["matched"], 1);
    let table = &answer["tables"][0];
    let columns = table["columns"].as_array().unwrap();
    assert_eq!(columns[0], json!({ "name": "id", "type": "integer", "null": false }));
    assert_eq!(
        columns[5],
        json!({ "name": "state", "type": "integer", "null": false, "default": 0 })
    );
    assert_eq!(
        columns[6],
        json!({ "name": "kind", "type": "string", "null": true, "limit": 1 })
    );
    assert_eq!(
        columns[9],
        json!({
            "name": "price", "type": "decimal", "null": true, "virtual": true,
            "sql_type": "decimal GENERATED ALWAYS AS (price_cents / 100.0) VIRTUAL",
            "default_function": "price_cents / 100.0",
        })
    );
    assert_eq!(
        table["indexes"],
        json!([
            { "name": "index_widgets_on_maker_id_and_name", "columns": ["maker_id", "name"], "unique": true },
            { "name": "index_widgets_on_maker_id", "columns": ["maker_id"] },
            { "name": "index_widgets_on_present_slug", "columns": ["slug"], "where": "slug IS NOT NULL" },
        ])
    );
    assert_eq!(
        table["foreign_keys"],
        json!([{ "column": "maker_id", "to_table": "makers" }])
    );
}

#[test]
fn keys_are_what_they_are() {
    let key = |name: &str| fixture(&of_table(name))["tables"][0]["primary_key"].clone();
    assert_eq!(key("line_items"), json!(["order_ref", "position"]));
    assert_eq!(key("orders"), "ref");
    assert_eq!(key("tags_widgets"), Value::Null);
    let foreign = |name: &str| fixture(&of_table(name))["tables"][0]["foreign_keys"].clone();
    assert_eq!(
        foreign("line_items"),
        json!([
            { "column": "order_ref", "to_table": "orders", "primary_key": "ref" },
            { "column": "widget_id", "to_table": "widgets" },
        ])
    );
    assert_eq!(foreign("parts")[1]["on_delete"], "cascade");
}

#[test]
fn tables_are_found_by_the_names_of_their_columns_too() {
    let names = |query: &str| {
        let arguments = Schema {
            query: Some(query.to_owned()),
            detail: Some(Detail::Names),
            ..Schema::default()
        };
        fixture(&arguments)["tables"].clone()
    };
    assert_eq!(
        names("WIDGET_ID"),
        json!(["catalog_placements", "line_items", "parts", "tags_widgets"])
    );
    assert_eq!(names("event"), json!(["audit.events"]));
    assert_eq!(names("no such thing"), json!([]));
}

#[test]
fn pages_follow_one_another() {
    let page = |offset: u32| {
        let arguments = Schema {
            detail: Some(Detail::Names),
            limit: Some(7),
            offset: Some(offset),
            ..Schema::default()
        };
        let answer = fixture(&arguments);
        (
            answer["tables"].as_array().unwrap().clone(),
            answer.get("next_offset").cloned(),
        )
    };
    let ((first, next), (last, end)) = (page(0), page(14));
    assert_eq!((first.len(), next), (7, Some(json!(7))));
    assert_eq!(
        (last.as_slice(), end),
        (&[json!("widgets"), json!("audit.events")][..], None)
    );
    assert_eq!(page(u32::MAX), (vec![], None));
}

#[test]
fn a_table_of_another_database_is_named_with_or_without_it() {
    for name in ["events", "audit.events"] {
        assert_eq!(fixture(&of_table(name))["tables"][0]["database"], "audit", "{name}");
    }
}

#[test]
fn what_is_not_there_is_refused_with_what_was_probably_meant() {
    let refused = read(&[("db/schema.rb", SCHEMA)], &[], &of_table("widget")).unwrap_err();
    assert_eq!(refused.kind, Kind::TableNotFound);
    assert_eq!(refused.hint.as_deref(), Some("did you mean `widgets`?"));
    let refused = read(&[("app/x.rb", "")], &[], &Schema::default()).unwrap_err();
    assert_eq!(refused.kind, Kind::NoDatabase);
}

#[test]
fn migrations_after_the_schema_file_are_pending() {
    let migrations = [
        "db/migrate/20240106090000_create_billing_invoices.billing.rb",
        "db/migrate/20250101000000_add_stock.shop.rb",
        "db/audit_migrate/20240103000000_add_actor.rb",
        "db/other_migrate/20990101000000_unknown.rb",
    ];
    let schemas = [("db/schema.rb", SCHEMA), ("db/audit_schema.rb", AUDIT)];
    let answer = read(&schemas, &migrations, &Schema::default()).unwrap();
    assert_eq!(
        answer["pending_migrations"],
        json!([
            { "version": "20240103000000", "name": "add_actor", "file": "db/audit_migrate/20240103000000_add_actor.rb" },
            { "version": "20250101000000", "name": "add_stock", "file": "db/migrate/20250101000000_add_stock.shop.rb" },
        ])
    );
    assert_eq!(answer["pending_count"], 2);
}

#[test]
fn structure_sql_names_each_migration_that_it_contains() {
    let text = "CREATE TABLE a (id bigint);\nINSERT INTO \"schema_migrations\" (version) VALUES\n('3'),\n('1');\n";
    let answer = read(
        &[("db/structure.sql", text)],
        &["db/migrate/2_b.rb", "db/migrate/3_c.rb"],
        &Schema::default(),
    );
    let answer = answer.unwrap();
    assert_eq!(answer["databases"][0]["version"], "3");
    assert_eq!(answer["pending_migrations"][0]["name"], "b");
    assert_eq!(answer["pending_count"], 1);
}

#[test]
fn of_two_files_for_one_database_the_later_one_counts() {
    let ruby = "ActiveRecord::Schema[7.1].define(version: 2023_01_01_000000) do\n  create_table \"old\"\nend\n";
    let sql = "CREATE TABLE new (id int);\nINSERT INTO schema_migrations VALUES ('20240101000000');";
    let answer = read(
        &[("db/schema.rb", ruby), ("db/structure.sql", sql)],
        &[],
        &Schema::default(),
    )
    .unwrap();
    assert_eq!(answer["databases"].as_array().unwrap().len(), 1);
    assert_eq!(answer["tables"][0]["name"], "new");
}

#[test]
fn ruby_of_every_kind_that_dumps_use_is_understood() {
    let table = ruby_table(
        r##"
        create_table "things", id: :uuid, default: -> { "gen_random_uuid()" }, comment: "it's", force: :cascade do |t|
          t.bigint "owner_id", null: false, comment: "say \"who\" # not a comment"
          t.string "tags", default: [], array: true
          t.jsonb "data", default: {}, null: false
          t.datetime "seen_at", precision: nil, default: -> { "now()" }
          t.decimal "price", precision: 8, scale: 2, default: "0.0"
          t.float "ratio", default: -1.5
          t.virtual "full", type: :string, as: "a || b", stored: true
          t.enum "mood", default: "ok", null: false, enum_type: "moods"
          t.boolean "on", default: true
          t.index "lower((name)::text)", name: "by_name", using: :gin
          t.index ["a", "b"], name: "ab", unique: true, order: { a: :desc },
                  where: "(a > 0)"
          t.check_constraint "price > 0", name: "positive"
          t.unique_constraint ["a"], name: "one_a"
        end
        "##,
    );
    assert_eq!(
        table["columns"],
        json!([
            { "name": "id", "type": "uuid", "null": false },
            { "name": "owner_id", "type": "integer", "sql_type": "bigint", "null": false,
              "comment": "say \"who\" # not a comment" },
            { "name": "tags", "type": "string", "null": true, "default": [], "array": true },
            { "name": "data", "type": "jsonb", "null": false, "default": {} },
            { "name": "seen_at", "type": "datetime", "null": true, "default_function": "now()" },
            { "name": "price", "type": "decimal", "null": true, "default": "0.0", "precision": 8, "scale": 2 },
            { "name": "ratio", "type": "float", "null": true, "default": -1.5 },
            { "name": "full", "type": "string", "null": true, "default_function": "a || b", "virtual": true },
            { "name": "mood", "type": "enum", "sql_type": "moods", "null": false, "default": "ok" },
            { "name": "on", "type": "boolean", "null": true, "default": true },
        ])
    );
    assert_eq!(
        table["indexes"],
        json!([
            { "name": "by_name", "columns": "lower((name)::text)", "using": "gin" },
            { "name": "ab", "columns": ["a", "b"], "unique": true, "where": "(a > 0)" },
            { "name": "one_a", "columns": ["a"], "unique": true },
        ])
    );
    assert_eq!(
        table["checks"],
        json!([{ "name": "positive", "expression": "price > 0" }])
    );
}

#[test]
fn views_are_no_tables_and_hide_none() {
    let text = "create_view \"totals\", materialized: true, sql_definition: <<-SQL\n  create_table \"no\"\n  end\n  SQL\n\
                create_table \"a\", force: :cascade do |t|\nend\nadd_foreign_key \"a\", \"people\", column: \"x\"\n";
    let tables = schema_ruby::parse(text).tables;
    let names: Vec<_> = tables.iter().map(|table| (table.name.as_str(), table.view)).collect();
    assert_eq!(names, [("totals", true), ("a", false)]);
    assert_eq!(tables[1].foreign_keys[0].column, "x");
}

#[test]
fn a_schema_written_by_hand_is_read_as_well() {
    let table = ruby_table(
        "create_table :people, :force => true do |t|\n  t.references :owner, polymorphic: true, null: false\n  \
         t.string :first, :last, null: false\n  t.timestamps\n  t.column :age, :integer, default: 1_0\nend\n\
         add_index :people, %w[first last], unique: true\nadd_index(:people, :age)\n",
    );
    let names: Vec<_> = table["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| &column["name"])
        .collect();
    let expected = [
        "id",
        "owner_type",
        "owner_id",
        "first",
        "last",
        "created_at",
        "updated_at",
        "age",
    ];
    assert_eq!(names, expected);
    assert_eq!(table["columns"][7]["default"], 10);
    assert_eq!(
        table["indexes"],
        json!([{ "columns": ["first", "last"], "unique": true }, { "columns": ["age"] }])
    );
}

#[test]
fn the_column_of_a_foreign_key_is_known_when_the_table_has_it() {
    let table = |columns: &str, to: &str| {
        let columns: String = columns
            .split(' ')
            .map(|name| format!("  t.bigint \"{name}\"\n"))
            .collect();
        let text = format!("create_table \"x\" do |t|\n{columns}end\nadd_foreign_key \"x\", \"{to}\"\n");
        ruby_table(&text)["foreign_keys"][0]["column"].clone()
    };
    let cases = [
        ("category_id", "categories", json!("category_id")),
        ("box_id boxe_id", "boxes", json!("box_id")),
        ("house_id", "houses", json!("house_id")),
        ("person_id", "people", json!("person_id")),
        ("mouse_id", "mice", Value::Null),
    ];
    for (columns, to, expected) in cases {
        assert_eq!(table(columns, to), expected, "{to}");
    }
}

#[test]
fn structure_of_postgresql_is_understood() {
    let text = r#"
        \restrict abcdef
        SET statement_timeout = 0;
        CREATE FUNCTION public.touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN CREATE TABLE no (id int); END; $$;
        CREATE TYPE public.moods AS ENUM ('ok', 'bad');
        -- Name: widgets; Type: TABLE
        CREATE TABLE public.widgets (
            id bigint NOT NULL,
            name character varying(80) DEFAULT 'it''s; fine'::character varying NOT NULL,
            mood public.moods DEFAULT 'ok'::public.moods,
            tags text[] DEFAULT '{}'::text[],
            price numeric(8,2) DEFAULT 0.5,
            "order" integer DEFAULT '-1'::integer,
            seen_at timestamp(6) without time zone DEFAULT now() NOT NULL,
            at timestamp with time zone,
            full_name text GENERATED ALWAYS AS (((name)::text || 'x'::text)) STORED,
            CONSTRAINT positive CHECK ((price > (0)::numeric))
        );
        CREATE SEQUENCE public.widgets_id_seq START WITH 1;
        ALTER TABLE ONLY public.widgets ALTER COLUMN id SET DEFAULT nextval('public.widgets_id_seq'::regclass);
        ALTER TABLE ONLY public.widgets ADD CONSTRAINT widgets_pkey PRIMARY KEY (id);
        CREATE UNIQUE INDEX by_name ON public.widgets USING btree (lower((name)::text)) WHERE (price IS NOT NULL);
        CREATE INDEX by_tags ON public.widgets USING gin (tags, "order" DESC);
        ALTER TABLE ONLY public.widgets
            ADD CONSTRAINT fk_rails_1 FOREIGN KEY (owner_id) REFERENCES audit.owners(id) ON UPDATE CASCADE ON DELETE SET NULL;
        CREATE MATERIALIZED VIEW public.totals AS SELECT 1;
    "#;
    let tables = schema_sql::parse(text).tables;
    let names: Vec<_> = tables.iter().map(|table| (table.name.as_str(), table.view)).collect();
    assert_eq!(names, [("widgets", false), ("totals", true)]);
    let table = sql_table(text);
    assert_eq!(table["primary_key"], "id");
    assert_eq!(
        table["columns"],
        json!([
            { "name": "id", "type": "integer", "sql_type": "bigint", "null": false,
              "default_function": "nextval('public.widgets_id_seq'::regclass)" },
            { "name": "name", "type": "string", "sql_type": "character varying(80)", "null": false,
              "default": "it's; fine", "limit": 80 },
            { "name": "mood", "type": "moods", "sql_type": "public.moods", "null": true, "default": "ok" },
            { "name": "tags", "type": "text", "sql_type": "text[]", "null": true, "default": "{}", "array": true },
            { "name": "price", "type": "decimal", "sql_type": "numeric(8,2)", "null": true, "default": 0.5,
              "precision": 8, "scale": 2 },
            { "name": "order", "type": "integer", "null": true, "default": -1 },
            { "name": "seen_at", "type": "datetime", "sql_type": "timestamp(6) without time zone", "null": false,
              "default_function": "now()" },
            { "name": "at", "type": "timestamptz", "sql_type": "timestamp with time zone", "null": true },
            { "name": "full_name", "type": "text", "null": true, "virtual": true,
              "default_function": "((name)::text || 'x'::text)" },
        ])
    );
    assert_eq!(
        table["checks"],
        json!([{ "name": "positive", "expression": "(price > (0)::numeric)" }])
    );
    assert_eq!(
        table["indexes"],
        json!([
            { "name": "by_name", "columns": "lower((name)::text)", "unique": true, "where": "price IS NOT NULL" },
            { "name": "by_tags", "columns": ["tags", "order"], "using": "gin" },
        ])
    );
    assert_eq!(
        table["foreign_keys"],
        json!([{ "column": "owner_id", "to_table": "audit.owners", "on_delete": "nullify", "on_update": "cascade" }])
    );
}

#[test]
fn structure_of_mysql_is_understood() {
    let text = r"
        /*!40101 SET @saved_cs_client = @@character_set_client */;
        DROP TABLE IF EXISTS `orders`;
        CREATE TABLE `orders` (
          `shop` varchar(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
          `number` bigint unsigned NOT NULL AUTO_INCREMENT,
          `open` tinyint(1) DEFAULT '1',
          `note` longtext COMMENT 'what; they say',
          `at` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
          PRIMARY KEY (`shop`,`number`),
          UNIQUE KEY `by_note` (`note`(10),`at`),
          KEY `by_open` (`open`),
          FULLTEXT KEY `search` (`note`),
          CONSTRAINT `fk_1` FOREIGN KEY (`shop`) REFERENCES `shops` (`ref`) ON DELETE CASCADE
        ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
        /*!50001 CREATE VIEW `v` AS SELECT 1 AS `id`*/;
        /*!50001 DROP VIEW IF EXISTS `v`*/;
        /*!50001 CREATE ALGORITHM=UNDEFINED */
        /*!50013 DEFINER=`root`@`%` SQL SECURITY DEFINER */
        /*!50001 VIEW `v` AS select `orders`.`shop` AS `shop` from `orders` */;
    ";
    let tables = schema_sql::parse(text).tables;
    let names: Vec<_> = tables.iter().map(|table| (table.name.as_str(), table.view)).collect();
    assert_eq!(names, [("orders", false), ("v", true)]);
    let table = sql_table(text);
    assert_eq!(table["primary_key"], json!(["shop", "number"]));
    assert_eq!(
        table["columns"],
        json!([
            { "name": "shop", "type": "string", "sql_type": "varchar(36)", "null": false, "default": "", "limit": 36 },
            { "name": "number", "type": "integer", "sql_type": "bigint unsigned", "null": false },
            { "name": "open", "type": "boolean", "sql_type": "tinyint(1)", "null": true, "default": true },
            { "name": "note", "type": "text", "sql_type": "longtext", "null": true, "comment": "what; they say" },
            { "name": "at", "type": "datetime", "sql_type": "datetime(6)", "null": false,
              "default_function": "CURRENT_TIMESTAMP(6)" },
        ])
    );
    assert_eq!(
        table["indexes"],
        json!([
            { "name": "by_note", "columns": ["note", "at"], "unique": true },
            { "name": "by_open", "columns": ["open"] },
            { "name": "search", "columns": ["note"], "using": "fulltext" },
        ])
    );
    assert_eq!(
        table["foreign_keys"],
        json!([{ "column": "shop", "to_table": "shops", "primary_key": "ref", "on_delete": "cascade" }])
    );
}

#[test]
fn structure_of_sqlite_is_understood() {
    let text = r#"
        CREATE TABLE IF NOT EXISTS "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS "widgets" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "key" varchar UNIQUE,
          "state" integer DEFAULT 0 NOT NULL, "price" decimal GENERATED ALWAYS AS (cents / 100.0) VIRTUAL,
          "maker_id" integer REFERENCES "makers" ("id") ON DELETE RESTRICT);
        CREATE INDEX "by_state" ON "widgets" ("state") /*application='x'*/;
    "#;
    let table = sql_table(text);
    assert_eq!(table["name"], "widgets");
    assert_eq!(table["primary_key"], "id");
    assert_eq!(
        table["columns"][0],
        json!({ "name": "id", "type": "integer", "null": false })
    );
    assert_eq!(
        table["columns"][3],
        json!({ "name": "price", "type": "decimal", "null": true, "virtual": true,
                "default_function": "cents / 100.0" })
    );
    assert_eq!(
        table["indexes"],
        json!([{ "columns": ["key"], "unique": true }, { "name": "by_state", "columns": ["state"] }])
    );
    assert_eq!(
        table["foreign_keys"],
        json!([{ "column": "maker_id", "to_table": "makers", "on_delete": "restrict" }])
    );
}
