//! What a client may read and attach: the app in outline, and the runs of this server.

use std::str::FromStr;

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;
use serde_json::json;

use super::tools::Running;
use crate::error::{Error, Kind, Result};
use crate::run::RunId;
use crate::supervisor::Supervisor;
use crate::supervisor::results::StreamName;
use crate::supervisor::runs::{Found, Ongoing};

const APP: &str = "coatepec://app";
const RUNS: &str = "coatepec://runs/";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// What a URI names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    App,
    Run(RunId),
    Output(RunId, StreamName),
    /// Counted from 1.
    Failure(RunId, usize),
}

impl FromStr for Name {
    type Err = ();

    fn from_str(uri: &str) -> std::result::Result<Self, ()> {
        if uri == APP {
            return Ok(Name::App);
        }
        let parts: Vec<&str> = uri.strip_prefix(RUNS).ok_or(())?.split('/').collect();
        let id = parts[0].parse()?;
        match parts[1..] {
            [] => Ok(Name::Run(id)),
            ["stdout"] => Ok(Name::Output(id, StreamName::Stdout)),
            ["stderr"] => Ok(Name::Output(id, StreamName::Stderr)),
            ["failures", number] => number.parse().map(|number| Name::Failure(id, number)).map_err(drop),
            _ => Err(()),
        }
    }
}

/// The app, and the runs that are known, the last one first.
pub(super) fn list(supervisor: &Supervisor) -> Vec<Resource> {
    let app = Resource::new(APP, "app")
        .with_title("The app")
        .with_description("What kind of app it is, where its specs and tests lie, its packs and engines.")
        .with_mime_type(JSON);
    let runs = supervisor.known_runs().into_iter().map(|(id, outcome)| {
        let outcome = outcome.unwrap_or_else(|| "running".to_owned());
        Resource::new(format!("{RUNS}{id}"), id.to_string())
            .with_description(format!("{outcome}: the whole report"))
            .with_mime_type(JSON)
    });
    std::iter::once(app).chain(runs).collect()
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |rest: &str, name: &str, what: &str, mime: &str| {
        ResourceTemplate::new(format!("{RUNS}{{id}}{rest}"), name)
            .with_description(what)
            .with_mime_type(mime)
    };
    vec![
        template("", "run", "The report of a run, or how far it is.", JSON),
        template(
            "/stdout",
            "stdout",
            "What a run wrote to stdout, by now, as far as it is kept (256 KiB at most).",
            TEXT,
        ),
        template("/stderr", "stderr", "The same of stderr.", TEXT),
        template(
            "/failures/{n}",
            "failure",
            "One failure of a run in full, from 1; also while it goes on.",
            JSON,
        ),
    ]
}

/// # Errors
/// When there is nothing of that name, or not yet.
pub(super) async fn read(supervisor: &Supervisor, uri: &str) -> std::result::Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found(format!("there is no `{uri}`"), Some(json!({ "uri": uri })));
    let name: Name = uri.parse().map_err(|()| unknown())?;
    let (text, mime) = content(supervisor, name).await.map_err(|error| refused(&error, uri))?;
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The app, and runs: no changes are told of their parts.
///
/// # Errors
/// There is nothing of that name, or it is a part.
pub(super) fn subscribable(supervisor: &Supervisor, uri: &str) -> std::result::Result<(), ErrorData> {
    let data = || Some(json!({ "uri": uri }));
    let unknown = || ErrorData::resource_not_found(format!("there is no `{uri}`"), data());
    match uri.parse::<Name>().map_err(|()| unknown())? {
        Name::App => Ok(()),
        Name::Run(id) => supervisor.found(id).map(drop).map_err(|error| refused(&error, uri)),
        Name::Output(id, _) | Name::Failure(id, _) => {
            let message = format!("no changes are told of `{uri}`; subscribe to `{RUNS}{id}`");
            Err(ErrorData::invalid_params(message, data()))
        }
    }
}

fn refused(error: &Error, uri: &str) -> ErrorData {
    let data = Some(json!({ "uri": uri, "code": error.kind.code() }));
    match error.kind {
        Kind::Internal => ErrorData::internal_error(error.with_hint(), data),
        _ => ErrorData::resource_not_found(error.with_hint(), data),
    }
}

async fn content(supervisor: &Supervisor, name: Name) -> Result<(String, &'static str)> {
    match name {
        Name::App => Ok((as_json(&supervisor.overview().await?)?, JSON)),
        Name::Run(id) => match supervisor.found(id)? {
            Found::Over(over) => Ok((as_json(&over.report())?, JSON)),
            Found::Ongoing(ongoing) => {
                goes_on(&ongoing)?;
                Ok((as_json(&Running::of(&ongoing))?, JSON))
            }
        },
        Name::Output(id, stream) => match supervisor.found(id)? {
            Found::Over(over) => Ok((over.output(stream), TEXT)),
            Found::Ongoing(ongoing) => {
                goes_on(&ongoing)?;
                Ok((supervisor.printed_so_far(&ongoing, stream), TEXT))
            }
        },
        Name::Failure(id, number) => match supervisor.found(id)? {
            Found::Over(over) => Ok((as_json(&over.failure(number)?)?, JSON)),
            Found::Ongoing(ongoing) => {
                goes_on(&ongoing)?;
                let failure = supervisor.failure_so_far(&ongoing, number)?;
                Ok((as_json(&Running::with(&ongoing, failure))?, JSON))
            }
        },
    }
}

/// Or what kept it from being a run.
fn goes_on(ongoing: &Ongoing) -> Result<()> {
    ongoing.error().map_or(Ok(()), Err)
}

fn as_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::internal("failed to write the resource").source(error))
}

#[cfg(test)]
mod tests {
    use super::Name;
    use crate::run::RunId;
    use crate::supervisor::results::StreamName;

    #[test]
    fn a_uri_names_one_thing_or_nothing() {
        let id = RunId(7);
        let table = [
            ("coatepec://app", Some(Name::App)),
            ("coatepec://runs/run-7", Some(Name::Run(id))),
            (
                "coatepec://runs/run-7/stdout",
                Some(Name::Output(id, StreamName::Stdout)),
            ),
            (
                "coatepec://runs/run-7/stderr",
                Some(Name::Output(id, StreamName::Stderr)),
            ),
            ("coatepec://runs/run-7/failures/2", Some(Name::Failure(id, 2))),
            ("coatepec://runs/7", None),
            ("coatepec://runs/", None),
            ("coatepec://runs/run-7/", None),
            ("coatepec://runs/run-7/failures", None),
            ("coatepec://runs/run-7/failures/x", None),
            ("coatepec://runs/run-7/failures/2/3", None),
            ("coatepec://app/", None),
            ("file:///etc/passwd", None),
            ("", None),
        ];
        for (uri, name) in table {
            assert_eq!(uri.parse::<Name>().ok(), name, "{uri}");
        }
    }
}
