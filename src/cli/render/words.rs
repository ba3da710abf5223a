//! What the server says of arguments of tools, in the words of the shell.

use crate::error::Kind;

/// As the server says it, and as a person types it.
const WORDS: [(&str, &str); 27] = [
    ("`timeout_seconds`", "`--timeout`"),
    ("`fork: \"never\"`", "`--fork never`"),
    ("`example`", "`--example`"),
    ("`seed`", "`--seed`"),
    ("`fork`", "`--fork`"),
    ("`fail_fast`", "`--fail-fast`"),
    ("`query`", "`--query`"),
    ("`controller`", "`--controller`"),
    ("`verb`", "`--verb`"),
    ("`engines`", "`--engines`"),
    ("`fields", "`--fields"),
    ("`rounds`", "`--rounds`"),
    ("`budget_seconds`", "`--budget`"),
    (
        "`threads` has the kernel's view",
        "the threads are as the kernel sees them",
    ),
    ("see `threads`", "see the threads above"),
    ("see `error` and `stderr`", "see the error above"),
    (
        "mend the error in `errors_outside` or `stderr`",
        "mend the error that is told above",
    ),
    ("see `stderr`", "see what it wrote to stderr"),
    ("named in `unfinished`", "that did not finish"),
    ("named in `not_run`", "that are named"),
    ("call again", "run it again"),
    ("call twice", "run it twice"),
    ("split the call", "run it in parts"),
    ("the next call", "the next run"),
    ("what `refused` lists", "what the sandbox refused"),
    ("`rails_runtime_restart`", "`coatepec restart`"),
    ("rails_spec_run", "coatepec run"),
];

/// Of an error: one of a file's own text quotes that.
pub fn of_error(kind: Kind, text: &str) -> String {
    match kind {
        Kind::InvalidConfig => text.to_owned(),
        _ => of_shell(text),
    }
}

pub fn of_shell(text: &str) -> String {
    WORDS
        .iter()
        .fold(text.to_owned(), |text, (said, typed)| text.replace(said, typed))
}

/// `1 example`, `2 examples`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}
