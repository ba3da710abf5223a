//! Prompts that a person picks in a client: how to work with these tools, with what he names filled in.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::tools;
use crate::run::RunId;
use crate::supervisor::Supervisor;
use crate::supervisor::runs::Found;

const FIX_FAILURE: &str = "fix_failure";
const TDD: &str = "tdd";

/// Completed with the spec and test files that there are.
pub(super) const PATH: &str = "path";
/// Completed with the runs that there are.
pub(super) const RUN: &str = "run_id";
const BEHAVIOUR: &str = "behaviour";

/// Bytes of an argument. Nobody types more.
const LONGEST: usize = 4096;

pub(super) fn all() -> Vec<Prompt> {
    let argument = |name: &str, what: &str| PromptArgument::new(name).with_description(what).with_required(false);
    let path = argument(PATH, "A spec or test file, or a selector in it.");
    let fix = vec![
        path.clone(),
        argument(RUN, "An earlier run that failed; its report goes into the prompt."),
    ];
    let behaviour = argument(BEHAVIOUR, "What the code is to do, in a sentence.").with_required(true);
    vec![
        Prompt::new(
            FIX_FAILURE,
            Some("Find out why specs fail, and mend the code."),
            Some(fix),
        )
        .with_title("Fix a failure"),
        Prompt::new(
            TDD,
            Some("Write a failing spec first, then the code."),
            Some(vec![behaviour, path]),
        )
        .with_title("Test first"),
    ]
}

/// # Errors
/// When there is no such prompt or run, or an argument is missing or too long.
pub(super) fn get(supervisor: &Supervisor, name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let path = argument(arguments, PATH)?;
    let text = match name {
        FIX_FAILURE => {
            let report = argument(arguments, RUN)?.map(|id| report(supervisor, id)).transpose()?;
            fix_failure(path, report.as_deref())
        }
        TDD => {
            let missing = || invalid(format!("`{BEHAVIOUR}` is missing"));
            tdd(argument(arguments, BEHAVIOUR)?.ok_or_else(missing)?, path)
        }
        _ => return Err(invalid(format!("there is no prompt named `{name}`"))),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn argument<'a>(arguments: &'a JsonObject, name: &str) -> Result<Option<&'a str>, ErrorData> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= LONGEST => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(_) => Err(invalid(format!("`{name}` must be a text of at most {LONGEST} bytes"))),
    }
}

fn report(supervisor: &Supervisor, id: &str) -> Result<String, ErrorData> {
    let unknown = || invalid(format!("`{id}` is no id of a run"));
    let id: RunId = id.parse().map_err(|()| unknown())?;
    match supervisor.found(id).map_err(|error| invalid(error.with_hint()))? {
        Found::Over(over) => Ok(serde_json::to_string(&over.report()).unwrap_or_default()),
        Found::Ongoing(_) => Err(invalid(format!("{id} is not over yet"))),
    }
}

fn invalid(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

fn fix_failure(path: Option<&str>, report: Option<&str>) -> String {
    let run = tools::SPEC_RUN;
    let begin = match (path, report) {
        (_, Some(report)) => format!("Specs of this Rails app fail. This is the report of {run}:\n\n{report}\n"),
        (Some(path), None) => format!("`{path}` fails in this Rails app. Run it with {run} and read the report."),
        (None, None) => format!("Specs of this Rails app fail. Run those that concern what was changed with {run}."),
    };
    format!(
        "{begin}\n\
         Work on one failure at a time:\n\
         1. Read its message, its diff and the first frames of its backtrace, then the code that they name.\n\
         2. Say in a sentence why it fails: is the code wrong, or does the spec ask for something that is no longer wanted?\n\
         3. Change what is wrong. Don't weaken a spec to make it pass.\n\
         4. Run exactly that example again, by the selector in `rerun`. Nothing has to be restarted after an edit.\n\
         When all of them pass, run the whole files that you touched. Only the outcome `passed` means that they pass."
    )
}

fn tdd(behaviour: &str, path: Option<&str>) -> String {
    let run = tools::SPEC_RUN;
    let place = match path {
        Some(path) => format!("in `{path}`"),
        None => "where specs of its kind are in this app".to_owned(),
    };
    format!(
        "Build this in this Rails app, test first: {behaviour}\n\n\
         1. Write one small example for it {place}.\n\
         2. Run it by its line with {run} (`path:LINE`). It has to fail, and for the reason that you expect; if it passes, it \
         tests nothing.\n\
         3. Write just the code that makes it pass, and run the same selector again.\n\
         4. Tidy up, and run the whole file.\n\
         Go on with the next example until everything is there. Only the outcome `passed` means that a run passes."
    )
}
