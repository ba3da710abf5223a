//! Which Ruby a project asks for: the files that say so, and which installed one they mean. Pure.

/// A file that declares a version, by the tool whose format it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Mise,
    ToolVersions,
    RubyVersion,
    Rvmrc,
    /// Where rvm keeps the choice of `rvm --default`.
    RvmAlias,
}

/// The files of a directory, the one that decides first.
pub const FILES: [(&str, Format); 7] = [
    ("mise.local.toml", Format::Mise),
    ("mise.toml", Format::Mise),
    (".mise.toml", Format::Mise),
    (".config/mise.toml", Format::Mise),
    (".tool-versions", Format::ToolVersions),
    (".ruby-version", Format::RubyVersion),
    (".rvmrc", Format::Rvmrc),
];

/// "Whatever Ruby there is without a version manager."
pub const SYSTEM: &str = "system";

/// The versions that a file names, in order of preference; none, if it says nothing of Ruby.
pub fn declared(format: Format, text: &str) -> Vec<String> {
    let lines = text.lines().map(without_comment);
    match format {
        Format::Mise => mise(lines),
        Format::ToolVersions => lines.flat_map(|line| after_word(line, &["ruby"])).map(own).collect(),
        Format::RubyVersion => lines.flat_map(str::split_whitespace).map(own).collect(),
        Format::Rvmrc => lines.filter_map(rvmrc_line).map(own).take(1).collect(),
        Format::RvmAlias => lines
            .filter_map(|line| line.strip_prefix("default="))
            .map(own)
            .collect(),
    }
}

fn own(word: &str) -> String {
    word.to_owned()
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// The words of a line after its first, if that is one of these.
fn after_word<'a>(line: &'a str, first: &[&str]) -> impl Iterator<Item = &'a str> {
    let mut words = line.split_whitespace();
    let is_meant = words.next().is_some_and(|word| first.contains(&word));
    words.filter(move |_| is_meant)
}

/// `rvm use 3.3.8@shop --create`, or `environment_id="ruby-3.3.8@shop"`; the rest is shell.
fn rvmrc_line(line: &str) -> Option<&str> {
    if let Some(id) = line.strip_prefix("environment_id=") {
        return Some(id.trim_matches(['"', '\'']));
    }
    after_word(line, &["rvm"]).find(|word| !word.starts_with('-') && *word != "use")
}

/// The few forms of TOML in which people write this one key: `ruby = …` below `[tools]`, and `version
/// = …` below `[tools.ruby]`.
fn mise<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut table = "";
    for line in lines {
        if line.starts_with('[') {
            table = line;
        } else if let Some((key, value)) = line.split_once('=') {
            match (table, key.trim().trim_matches(['"', '\''])) {
                ("[tools]", "ruby" | "core:ruby") | ("", "tools.ruby") => return quoted_versions(value),
                ("[tools.ruby]", "version") => return quoted_versions(value),
                _ => {}
            }
        }
    }
    Vec::new()
}

/// `"3.3"`, `["3.3", "3.2"]` or `{ version = "3.3", … }`
fn quoted_versions(value: &str) -> Vec<String> {
    let is_table = value.trim_start().starts_with('{');
    let value = match value.split_once("version") {
        Some((_, after)) if is_table => after,
        _ => value,
    };
    let strings = value.split(['"', '\'']).skip(1).step_by(2).map(own);
    if is_table {
        strings.take(1).collect()
    } else {
        strings.collect()
    }
}

/// The name of a Ruby without what the tools disagree on: the prefix of the usual engine, and a
/// gemset behind it.
pub fn plain(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or(name);
    match name.strip_prefix("ruby-") {
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => version,
        _ => name,
    }
}

/// The gemset in `3.3.8@shop`.
pub fn gemset(name: &str) -> Option<&str> {
    name.split_once('@').map(|(_, gemset)| gemset)
}

/// Whether this is a version at all, and not a git reference, a path or a template, which only the
/// tool itself understands.
pub fn is_plain(wanted: &str) -> bool {
    !wanted.contains([':', '/', '{'])
}

/// Of the installed ones, what `wanted` means: itself, or else the newest that it is the beginning
/// of. A release goes before any preview.
pub fn pick<'a>(wanted: &str, installed: &'a [String]) -> Option<&'a str> {
    let wanted = plain(wanted);
    let candidates = installed.iter().filter(|name| means(wanted, plain(name)));
    candidates
        .max_by_key(|name| (plain(name) == wanted, age(plain(name))))
        .map(String::as_str)
}

/// Whether `3.3` means `3.3.8`. (It does not mean `3.30.1`.)
fn means(wanted: &str, version: &str) -> bool {
    match wanted {
        "latest" => version.starts_with(|c: char| c.is_ascii_digit()),
        _ => version
            .strip_prefix(wanted)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    }
}

/// Whether a part of a path, such as `3.3.8`, `ruby3.3` or `…-ruby-3.3.8`, may be of this version.
pub fn may_be(wanted: &str, part: &str) -> bool {
    let version = part
        .rsplit_once("ruby")
        .map_or(part, |(_, after)| after)
        .trim_start_matches('-');
    // A single number is too little: it may be anything.
    version.contains('.') && (means(plain(wanted), version) || means(version, plain(wanted)))
}

/// The newest is the greatest.
fn age(name: &str) -> (bool, Vec<u32>, &str) {
    let start = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let end = name[start..].find(|c: char| c != '.' && !c.is_ascii_digit());
    let (numbers, suffix) = name[start..].split_at(end.unwrap_or(name.len() - start));
    let numbers = numbers.split('.').filter_map(|number| number.parse().ok()).collect();
    (suffix.is_empty(), numbers, suffix)
}

/// Major and minor version, which native gems are built for.
pub fn series(name: &str) -> Option<(u32, u32)> {
    let mut numbers = plain(name).split(['.', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
