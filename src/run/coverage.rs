//! Which lines of the app a run executed: what was asked for, what the run told, and what is told of it. Pure.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::project::Lines;
use crate::worker::protocol::CoveredFile;

/// What a caller wants to know, as it was before the run.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    /// The commit that the lines differ from; none for files that were named.
    pub since: Option<String>,
    pub files: Vec<Target>,
    pub unmeasured: Vec<Unmeasured>,
    /// Why it is not known what was changed.
    pub error: Option<Error>,
}

#[derive(Debug, Clone)]
pub struct Target {
    pub path: String,
    /// None for all of them.
    pub lines: Option<Lines>,
}

/// What a run told of the lines that it executed.
#[derive(Debug, Clone, Default)]
pub struct CoverageLog {
    pub covered: Vec<CoveredFile>,
    /// Each test file with a file of the app of which it ran lines.
    pub touched: Vec<(String, String)>,
    /// Why there is no more of it.
    pub broken: Option<String>,
}

/// Which lines the run executed. Not counted: lines that exit handlers and processes of its own executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CoverageReport {
    /// The commit that the files were compared with: then only lines that differ from it are told. Absent for files that
    /// were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Lines of all files together.
    pub executed_lines: usize,
    pub not_executed_lines: usize,
    /// Those with the most lines that were not executed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileCoverage>,
    /// Files of which there is nothing to tell, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<Unmeasured>,
    /// Why Git could not say what was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CoverageError>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileCoverage {
    pub path: String,
    /// Ranges of lines: `3-7,12`. Lines that can't be executed, such as comments, are in neither list, or within a range.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub executed: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub not_executed: String,
    pub executed_lines: usize,
    pub not_executed_lines: usize,
    /// The run did not load the file at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_loaded: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unmeasured {
    pub path: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CoverageError {
    pub code: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Targets {
    pub fn paths(&self) -> Vec<String> {
        self.files.iter().map(|target| target.path.clone()).collect()
    }
}

impl CoverageReport {
    /// `saved`: whether the file was saved after the run began, so that its lines may be others.
    pub fn new(targets: &Targets, log: &CoverageLog, saved: &dyn Fn(&str) -> bool) -> CoverageReport {
        let mut files = Vec::new();
        let mut unmeasured = targets.unmeasured.clone();
        for target in &targets.files {
            let told = log.covered.iter().find(|file| file.path == target.path);
            match measured(target, told, log, saved(&target.path)) {
                Ok(file) => files.push(file),
                Err(reason) => unmeasured.push(Unmeasured {
                    path: target.path.clone(),
                    reason,
                }),
            }
        }
        files.sort_by(|one, other| {
            let by_worth = other.not_executed_lines.cmp(&one.not_executed_lines);
            by_worth.then_with(|| one.path.cmp(&other.path))
        });
        CoverageReport {
            since: targets.since.clone(),
            executed_lines: files.iter().map(|file| file.executed_lines).sum(),
            not_executed_lines: files.iter().map(|file| file.not_executed_lines).sum(),
            files,
            unmeasured,
            error: targets.error.as_ref().map(CoverageError::of),
        }
    }
}

fn measured(
    target: &Target,
    told: Option<&CoveredFile>,
    log: &CoverageLog,
    saved: bool,
) -> Result<FileCoverage, String> {
    if saved {
        return Err("it was saved while the run went on; run again".to_owned());
    }
    let broken = || {
        log.broken
            .clone()
            .unwrap_or_else(|| "the run ended before it could tell".to_owned())
    };
    let told = told.ok_or_else(broken)?;
    let (Some(executed), Some(missed)) = (&told.executed, &told.missed) else {
        return Err("Ruby can't compile it".to_owned());
    };
    let all = Lines::from_iter([(1, u32::MAX)]);
    let wanted = target.lines.as_ref().unwrap_or(&all);
    let (executed, missed) = (Lines::parse(executed).and(wanted), Lines::parse(missed).and(wanted));
    if executed.is_empty() && missed.is_empty() {
        let whole = target.lines.is_none();
        let reason = if whole {
            "it has no line"
        } else {
            "none of its changed lines is one"
        };
        return Err(format!("{reason} that can be executed"));
    }
    Ok(FileCoverage {
        path: target.path.clone(),
        executed: joined(&executed, &missed, target).to_string(),
        not_executed: joined(&missed, &executed, target).to_string(),
        executed_lines: executed.count(),
        not_executed_lines: missed.count(),
        not_loaded: !told.loaded,
    })
}

/// Of a whole file, comments part nothing; of changed lines, those that were not changed do.
fn joined(lines: &Lines, others: &Lines, target: &Target) -> Lines {
    match &target.lines {
        None => lines.joined_unless(others),
        Some(wanted) => lines.joined_unless(others).and(wanted),
    }
}

impl CoverageError {
    fn of(error: &Error) -> CoverageError {
        CoverageError {
            code: error.kind.code().to_owned(),
            message: error.to_string(),
            hint: error.hint.clone(),
        }
    }
}
