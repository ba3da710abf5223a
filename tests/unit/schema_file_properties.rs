//! What holds for any text whatsoever in a schema file.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select as one_of;

use coatepec::reading::schema::Schema;
use coatepec::reading::schema_file::{Files, from_files};
use coatepec::reading::{schema_ruby, schema_sql};

/// Pieces that mean something in one of the files, strung together.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = vec![
        "create_table",
        "add_index",
        "create_view",
        "add_foreign_key",
        "t.string",
        "t.index",
        "end",
        "do |t|",
        "define(",
        "version:",
        "2024_01",
        "id: false",
        "primary_key: [",
        "\"a\"",
        ":a",
        "'it\\'s'",
        "<<-SQL",
        "SQL",
        "-> {",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        "=>",
        "%w[a b",
        "\n",
        "\\",
        "#",
        "::",
        ".",
        "-",
        "1.5",
        "9999999999999999999999999",
        "ü",
        "{",
        "CREATE TABLE",
        "CREATE UNIQUE INDEX",
        "ALTER TABLE ONLY",
        "ADD CONSTRAINT",
        "PRIMARY KEY",
        "FOREIGN KEY",
        "REFERENCES",
        "ON",
        "DELETE",
        "DEFAULT",
        "NOT NULL",
        "GENERATED ALWAYS AS",
        "'x'",
        "''",
        "'",
        "`",
        "$$",
        "$a$",
        "--",
        "/*",
        "/*!50001",
        "*/",
        ";",
        "public.",
        "INSERT INTO schema_migrations",
        "varchar(",
        "numeric(8,2)",
        "[]",
        "VIEW",
    ];
    vec((one_of(pieces), one_of(vec!["", " ", "\n"])), 0..60)
        .prop_map(|pieces| pieces.iter().map(|(piece, space)| format!("{piece}{space}")).collect())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => pieces(), 1 => any::<String>()]
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in text()) {
        schema_ruby::parse(&text);
        schema_sql::parse(&text);
    }

    #[test]
    fn an_answer_shows_as_many_tables_as_it_says(ruby in text(), sql in text(), limit in 1..9_u32, offset in 0..9_u32) {
        let schemas = [("db/schema.rb".to_owned(), ruby), ("db/b_structure.sql".to_owned(), sql)];
        let files = Files { schemas: &schemas, migrations: &["db/migrate/1_a.rb".to_owned()] };
        let arguments = Schema { limit: Some(limit), offset: Some(offset), ..Schema::default() };
        let answer = from_files(files, &arguments).unwrap();
        let matched = answer["matched"].as_u64().unwrap();
        let shown = answer["tables"].as_array().unwrap().len() as u64;
        prop_assert_eq!(shown, matched.saturating_sub(offset.into()).min(limit.into()));
        prop_assert_eq!(answer.get("next_offset").is_some(), u64::from(offset + limit) < matched);
    }
}

#[test]
fn no_depth_is_too_deep() {
    for open in ["[", "{ a: ", "(", "-> { ["] {
        schema_ruby::parse(&format!("create_table {}", open.repeat(100_000)));
    }
    schema_sql::parse(&format!("CREATE TABLE a (b int DEFAULT {}", "(".repeat(100_000)));
}
