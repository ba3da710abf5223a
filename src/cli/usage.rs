//! What is wrong with the command line itself, as an error like all others.

use std::error::Error as _;
use std::num::IntErrorKind;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::config::nearest::{distance, tolerance};
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
    let serves = || is_told_to_serve(error).then(|| SERVES.to_owned());
    let hint = serves().or_else(|| to_be_run(error)).or_else(|| near(error));
    Some(wrong.hint(hint.unwrap_or_else(|| help(words))))
}

/// What other servers of MCP are started with.
const SERVING: [&str; 5] = ["mcp", "serve", "server", "start", "stdio"];

const SERVES: &str = "without a command, as `coatepec --root PATH`, it serves MCP on stdin and stdout";

fn is_told_to_serve(error: &clap::Error) -> bool {
    let word = text(error, ContextKind::InvalidSubcommand);
    word.is_some_and(|word| SERVING.contains(&word.as_str()))
}

/// Tests where a command is expected.
fn to_be_run(error: &clap::Error) -> Option<String> {
    let word = text(error, ContextKind::InvalidSubcommand)?;
    let is_selector = word.contains(['/', '@']) || word.contains("_spec.rb") || word.contains("_test.rb");
    is_selector.then(|| format!("`coatepec run {word}` runs it"))
}

fn message(error: &clap::Error) -> String {
    let arg = text(error, ContextKind::InvalidArg);
    // `[CODE]...` is how the usage line has it.
    let arg = arg.map(|arg| arg.trim_matches(['[', ']', '.']).to_owned());
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
            let choices = choices(error).unwrap_or_default();
            format!("`{arg}` must be {choices}, and is `{value}`")
        }
        (ErrorKind::ValueValidation, Some(arg), Some(value)) => {
            let why = match range(error) {
                Some((least, most)) => format!("must be between {least} and {most}"),
                None => no_number(error).map_or_else(|| reason(error), str::to_owned),
            };
            format!("`{arg}` {why}, and is `{value}`")
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

/// What was probably meant. The parser's own suggestions are generous, and hardly ever that.
fn near(error: &clap::Error) -> Option<String> {
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    let near = pairs.into_iter().find_map(|(wrong, kind)| {
        let wrong = text(error, wrong)?;
        suggested(error, kind).into_iter().find(|near| is_near(&wrong, near))
    });
    let near = near.or_else(|| nearest_command(error));
    let near = near.map(|near| format!("did you mean `{near}`?"));
    near.or_else(|| nearest_in_range(error))
}

fn is_near(wrong: &str, near: &str) -> bool {
    let bare = |word: &str| word.trim_start_matches('-').to_owned();
    let (wrong, near) = (bare(wrong), bare(near));
    let begins = wrong.len() > 1 && near.starts_with(&wrong);
    begins || distance(&wrong, &near) <= tolerance(&wrong) || is_shuffled(&wrong, &near)
}

/// Whether they have the same letters, as of fingers that were too fast.
fn is_shuffled(wrong: &str, near: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(wrong) == sorted(near)
}

/// The parser suggests none for the shortest.
fn nearest_command(error: &clap::Error) -> Option<String> {
    let word = text(error, ContextKind::InvalidSubcommand)?;
    let commands = super::definition();
    let mut names = commands.get_subcommands().map(clap::Command::get_name);
    names.find(|name| is_near(&word, name)).map(str::to_owned)
}

fn suggested(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn choices(error: &clap::Error) -> Option<String> {
    let choices = suggested(error, ContextKind::ValidValue);
    let (last, others) = choices.split_last()?;
    Some(match others {
        [] => last.clone(),
        others => format!("{} or {last}", others.join(", ")),
    })
}

/// In words for people.
fn no_number(error: &clap::Error) -> Option<&'static str> {
    let why = error.source()?.downcast_ref::<std::num::ParseIntError>()?;
    Some(match why.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "can't be that far from 0",
        _ => "must be a whole number",
    })
}

fn reason(error: &clap::Error) -> String {
    let why = error.source();
    why.map_or_else(|| "is not understood".to_owned(), |why| format!("can't be that: {why}"))
}

/// The parser knows it and tells it in words only: `1000 is not in 2..=100`.
fn range(error: &clap::Error) -> Option<(i64, i64)> {
    let told = error.source()?.to_string();
    let (least, most) = told.rsplit_once(" is not in ")?.1.split_once("..")?;
    let most = match most.strip_prefix('=') {
        Some(most) => most.parse().ok()?,
        None => most.parse::<i64>().ok()? - 1,
    };
    Some((least.parse().ok()?, most))
}

fn nearest_in_range(error: &clap::Error) -> Option<String> {
    let (least, most) = range(error)?;
    let value: i128 = text(error, ContextKind::InvalidValue)?.parse().ok()?;
    let nearest = value.clamp(least.into(), most.into());
    Some(format!("the nearest that is allowed is {nearest}"))
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
