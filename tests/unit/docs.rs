//! The documentation is complete, and what is generated in it is what the code says.
//!
//! `COATEPEC_WRITE_DOCS=1 cargo nextest run --test unit docs` writes the generated parts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use coatepec::config::EXAMPLE;
use coatepec::error::Kind;
use coatepec::run::outcome::Outcome;
use coatepec::run::report::Report;
use coatepec::supervisor::board::Status;
use coatepec::supervisor::concern::ConcernReport;
use coatepec::worker::surroundings::SURROUNDINGS;
use regex::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

fn path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn same(name: &str, generated: &str) {
    if std::env::var_os("COATEPEC_WRITE_DOCS").is_some() {
        fs::write(path(name), generated).unwrap();
    }
    assert!(
        read(name) == generated,
        "{name} is not what the code says; write it anew with COATEPEC_WRITE_DOCS=1"
    );
}

#[test]
fn the_reference_of_the_tools_is_what_their_schemas_say() {
    same("docs/reference.md", &reference());
}

#[test]
fn the_page_on_configuration_shows_the_example_as_it_is() {
    let page = read("docs/configuration.md");
    let mark = "<!-- generated from .coatepec.yml.example -->\n";
    let (before, _) = page.split_once(mark).expect("the mark is there");
    same(
        "docs/configuration.md",
        &format!("{before}{mark}\n```yaml\n{}\n```\n", EXAMPLE.trim_end()),
    );
}

#[test]
fn the_page_on_configuration_lists_the_variables_that_do_not_count() {
    let page = read("docs/configuration.md");
    let mark = "<!-- surroundings: generated from src/worker/surroundings.rs -->\n";
    let end = "<!-- end of surroundings -->";
    let (before, rest) = page.split_once(mark).expect("the mark is there");
    let (_, after) = rest.split_once(end).expect("its end is there");
    let row = |(what, names): &(&str, &[&str])| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        format!("| {what} | {} |\n", names.join(", "))
    };
    let rows: String = SURROUNDINGS.iter().map(row).collect();
    let table = format!("\n| of | variables |\n|---|---|\n{rows}\n");
    same("docs/configuration.md", &format!("{before}{mark}{table}{end}{after}"));
}

#[test]
fn each_command_is_told_of_in_some_page() {
    let pages = fs::read_dir(path("docs")).unwrap().map(|page| page.unwrap().path());
    let pages: String = pages.map(|page| fs::read_to_string(page).unwrap()).collect();
    for command in coatepec::cli::definition().get_subcommands() {
        let typed = format!("coatepec {}", command.get_name());
        assert!(pages.contains(&typed), "`{typed}` is in no page of docs/");
    }
}

#[test]
fn each_code_of_an_error_is_explained_with_its_exit_code() {
    let explained = rows("## Errors by code", "## Outcomes");
    let known: BTreeSet<(String, String)> = Kind::ALL
        .iter()
        .map(|kind| (kind.code().to_owned(), kind.exit_code().to_string()))
        .collect();
    assert_eq!(explained, known);
}

#[test]
fn each_outcome_is_explained_with_its_exit_code() {
    let explained = rows("## Outcomes", "## Symptoms");
    let known: BTreeSet<(String, String)> = outcomes()
        .into_iter()
        .map(|name| {
            let outcome: Outcome = serde_json::from_value(name.clone().into()).unwrap();
            (name, coatepec::cli::run::exit::exit_code(outcome).to_string())
        })
        .collect();
    assert!(known.len() > 10, "{known:?}");
    assert_eq!(explained, known);
}

/// Names and exit codes in the table between two headings.
fn rows(from: &str, to: &str) -> BTreeSet<(String, String)> {
    let page = read("docs/troubleshooting.md");
    let section = page.split_once(from).unwrap().1.split_once(to).unwrap().0;
    let row = Regex::new(r"(?m)^\| `(\w+)` \| (\d+) \|").unwrap();
    row.captures_iter(section)
        .map(|row| (row[1].to_owned(), row[2].to_owned()))
        .collect()
}

fn outcomes() -> Vec<String> {
    let schema = schema::<Outcome>();
    choices(&schema).into_iter().collect()
}

#[test]
fn no_link_of_the_documentation_leads_nowhere() {
    let pages = fs::read_dir(path("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let link = Regex::new(r"\]\(([^)\s#]+)(?:#[\w-]+)?\)").unwrap();
    for page in pages.chain([path("README.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        for found in link.captures_iter(&text).filter(|found| !found[1].contains("://")) {
            let target = page.parent().unwrap().join(&found[1]);
            assert!(target.exists(), "{}: {}", page.display(), &found[1]);
        }
    }
}

#[test]
fn the_examples_of_commands_are_commands() {
    let link = Regex::new(r"(?m)^coatepec (\w+)|`coatepec (\w+)").unwrap();
    let commands: BTreeSet<String> = coatepec::cli::definition()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    for page in fs::read_dir(path("docs")).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&page).unwrap_or_default();
        for found in link.captures_iter(&text) {
            let name = found.get(1).or_else(|| found.get(2)).unwrap().as_str();
            assert!(commands.contains(name), "{}: coatepec {name}", page.display());
        }
    }
}

// The reference.

const HEAD: &str = "\
# Reference of the tools

What an MCP client can call; [what the tools that read the app tell](tools.md) is a page of its own. Generated from the schemas of the code: `COATEPEC_WRITE_DOCS=1 cargo nextest run --test unit docs`.

Every result comes twice, as `structuredContent` and as the same JSON in text. Times are in seconds, sizes in bytes, paths relative to the
app. A field that has nothing to say is absent. A call that is wrong, or could not be carried out, is a tool error:
[troubleshooting](troubleshooting.md#errors-by-code) has its codes.
";

fn reference() -> String {
    let mut text = HEAD.to_owned();
    for tool in coatepec::mcp::listed() {
        let tool = tool.as_object().unwrap();
        let name = tool["name"].as_str().unwrap();
        text += &format!("\n## `{name}`\n\n{}\n", tool["description"].as_str().unwrap());
        text += &arguments(&tool["inputSchema"]);
        text += &match name {
            "rails_spec_run" => "\nThe result is a [report](#report), or as much as is known of a run that goes on: `run_id`, \
                                 `outcome` (`running`), `progress`, `seconds`, `hint`.\n"
                .to_owned(),
            "rails_run_result" => {
                "\nThe result is a [report](#report), as of `rails_spec_run`; with `output`, a page of what the run printed.\n".to_owned()
            }
            "rails_spec_for" => "\nThe result tells [concerned tests](#concerned-tests).\n".to_owned(),
            "rails_runtime_status" => "\nThe result is the [status](#status).\n".to_owned(),
            _ => fields("Result", &tool["outputSchema"]),
        };
    }
    text += &results::<Report>("Report");
    text += &results::<Status>("Status");
    text += &results::<ConcernReport>("Concerned tests");
    text
}

fn arguments(schema: &Value) -> String {
    let Some(properties) = schema["properties"]
        .as_object()
        .filter(|properties| !properties.is_empty())
    else {
        return "\nNo arguments.\n".to_owned();
    };
    let required = names(&schema["required"]);
    let mut text = "\n| argument | type | what |\n|---|---|---|\n".to_owned();
    for (name, schema) in properties {
        let needed = if required.contains(name) { " (required)" } else { "" };
        text += &format!("| `{name}`{needed} | {} | {} |\n", kind(schema), described(schema));
    }
    text
}

fn fields(title: &str, schema: &Value) -> String {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let list = properties
        .iter()
        .map(|(name, schema)| format!("`{name}` ({})", kind(schema)));
    format!("\n{title}: {}.\n", list.collect::<Vec<_>>().join(", "))
}

/// The fields of a result, and of everything in it.
fn results<T: JsonSchema>(title: &str) -> String {
    let schema = schema::<T>();
    let mut text = format!("\n## {title}\n");
    text += &table(&schema);
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        let choices = choices(part);
        if !choices.is_empty() {
            let choices: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
            text += &format!("\n### {title}: {name}\n\nOne of {}.\n", choices.join(", "));
        } else if part["properties"].is_object() {
            text += &format!("\n### {title}: {name}\n{}", table(part));
        }
    }
    text
}

fn table(schema: &Value) -> String {
    let empty = Map::new();
    let required = names(&schema["required"]);
    let mut text = "\n| field | type | what |\n|---|---|---|\n".to_owned();
    for (name, schema) in schema["properties"].as_object().unwrap_or(&empty) {
        let always = if required.contains(name) { " (always)" } else { "" };
        text += &format!("| `{name}`{always} | {} | {} |\n", kind(schema), described(schema));
    }
    text
}

fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn described(schema: &Value) -> String {
    schema["description"]
        .as_str()
        .unwrap_or_default()
        .replace('\n', " ")
        .replace('|', "\\|")
}

/// In a few words, limits included.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap().to_owned();
    }
    for key in ["anyOf", "allOf"] {
        let some = |choice: &&Value| choice["type"] != "null";
        if let Some(first) = schema[key].as_array().and_then(|choices| choices.iter().find(some)) {
            return kind(first);
        }
    }
    let choices = choices(schema);
    if !choices.is_empty() {
        return choices
            .iter()
            .map(|choice| format!("`{choice}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or("any"),
        kind => kind.as_str().unwrap_or("any"),
    };
    let limits = limits(schema);
    match kinds {
        "array" if schema["items"].is_object() => format!("list of {}{limits}", kind(&schema["items"])),
        "array" => "list".to_owned(),
        kind => format!("{kind}{limits}"),
    }
}

fn limits(schema: &Value) -> String {
    let bounds = |least: &str, most: &str| match (schema[least].as_f64(), schema[most].as_f64()) {
        (Some(least), Some(most)) => Some(format!(", {least} to {most}")),
        (None, Some(most)) => Some(format!(", up to {most}")),
        // That it is not negative is said by what it is.
        (Some(least), None) if least > 0.0 => Some(format!(", from {least}")),
        _ => None,
    };
    bounds("minimum", "maximum")
        .or_else(|| bounds("minItems", "maxItems"))
        .unwrap_or_default()
}

fn choices(schema: &Value) -> BTreeSet<String> {
    let plain = names(&schema["enum"]);
    let one_of = schema["oneOf"].as_array().into_iter().flatten();
    let consts = one_of.flat_map(|choice| {
        choice["const"]
            .as_str()
            .map(str::to_owned)
            .into_iter()
            .chain(names(&choice["enum"]))
    });
    plain.into_iter().chain(consts).collect()
}

fn names(list: &Value) -> BTreeSet<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
