//! What is wrong with the command line itself, as an error like all others.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::{Error, Kind};

/// `None` where nothing is wrong: help or the version was asked for.
pub fn error(error: &clap::Error, words: &[String]) -> Option<Error> {
    let asked = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayVersion,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    if asked.contains(&error.kind()) {
        return None;
    }
    let wrong = Error::new(Kind::InvalidArguments, message(error));
    Some(wrong.hint(near(error).unwrap_or_else(|| help(words))))
}

fn message(error: &clap::Error) -> String {
    let arg = text(error, ContextKind::InvalidArg);
    let value = text(error, ContextKind::InvalidValue);
    match (error.kind(), arg, value) {
        (ErrorKind::UnknownArgument, Some(arg), _) if arg.starts_with('-') => format!("there is no flag `{arg}` here"),
        (ErrorKind::UnknownArgument, Some(arg), _) => format!("`{arg}` is one argument too many"),
        (ErrorKind::InvalidSubcommand, ..) => {
            let word = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("there is no command `{word}`")
        }
        (ErrorKind::MissingRequiredArgument, Some(arg), _) => format!("{arg} is missing"),
        (ErrorKind::InvalidValue, Some(arg), Some(value)) if value.is_empty() => format!("`{arg}` needs a value"),
        (ErrorKind::InvalidValue, Some(arg), Some(value)) => {
            let choices = text(error, ContextKind::ValidValue).unwrap_or_default();
            format!("`{arg}` must be {choices}, and is `{value}`")
        }
        (ErrorKind::ArgumentConflict, Some(arg), _) => match text(error, ContextKind::PriorArg) {
            Some(other) if other != arg => format!("`{arg}` can't be combined with `{other}`"),
            _ => format!("`{arg}` was given twice"),
        },
        _ => first_sentence(error),
    }
}

/// As the parser says it.
fn first_sentence(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let first = rendered.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
    words.join(" ").replace('\'', "`")
}

fn near(error: &clap::Error) -> Option<String> {
    let kinds = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    let near = kinds.into_iter().find_map(|kind| text(error, kind))?;
    Some(format!("did you mean `{near}`?"))
}

fn help(words: &[String]) -> String {
    let commands = super::definition();
    let known = |word: &&String| commands.find_subcommand(word.as_str()).is_some();
    match words.iter().skip(1).find(known) {
        Some(command) => format!("`coatepec {command} --help` tells what there is"),
        None => "`coatepec --help` tells what there is".to_owned(),
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(" or ")).filter(|texts| !texts.is_empty()),
        _ => None,
    }
}
