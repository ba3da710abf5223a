//! Paths as a caller may see them: relative to the root where they are below it, shortened to the gem where they
//! belong to one, and never the rest of an absolute path.

use std::path::{Path, PathBuf};

/// Directories below the root that hold other people's code.
const VENDORED: &[&str] = &[
    "vendor/bundle/",
    "vendor/ruby/",
    "vendor/cache/",
    ".bundle/",
    "node_modules/",
];

#[derive(Debug, Clone)]
pub struct Paths {
    /// With a final slash.
    root: String,
    home: Option<String>,
}

/// Where the frames of the embedded Ruby are.
const OURS: &str = "coatepec/worker";

/// Whose code a frame of a backtrace is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Of the app; relative to the root.
    App(String),
    /// Of a gem, of Ruby or of something else outside; shortened.
    Foreign(String),
    /// Ours, or no place in a file at all.
    Noise,
}

impl Paths {
    pub fn new(root: &Path, home: Option<PathBuf>) -> Self {
        let with_slash = |path: &Path| format!("{}/", path.display().to_string().trim_end_matches('/'));
        let home = home.map(|home| with_slash(&home)).filter(|home| home.len() > 1);
        Paths {
            root: with_slash(root),
            home,
        }
    }

    /// A text of the app: the root disappears from it, the home directory becomes `~`.
    pub fn text(&self, text: &str) -> String {
        // In a container the root is often `/app`, which may as well begin a URL: there only what an app has counts.
        let short = self.root.matches('/').count() <= 2;
        let ours = |rest: &str| !short || IN_AN_APP.iter().any(|name| rest.starts_with(name));
        let text = replace(text, &self.root, "", ours);
        match &self.home {
            Some(home) => replace(&text, home, "~/", |_| true),
            None => text,
        }
    }

    /// What a process printed: as a text, without the frames of ours that Ruby prints with an uncaught exception.
    pub fn output(&self, text: &str) -> String {
        if !text.contains(OURS) {
            return self.text(text);
        }
        let lines = text.split_inclusive('\n').filter(|line| !is_ours(line));
        self.text(&lines.collect::<String>())
    }

    pub fn frame(&self, frame: &str) -> Frame {
        if frame.starts_with("coatepec/") || frame.starts_with("<internal:") || frame.starts_with("-e:") {
            return Frame::Noise;
        }
        if let Some(place) = frame.strip_prefix(EVAL) {
            return match self.frame(place) {
                Frame::App(place) => Frame::App(format!("{EVAL}{place}")),
                Frame::Foreign(place) => Frame::Foreign(format!("{EVAL}{place}")),
                Frame::Noise => Frame::Noise,
            };
        }
        let own = frame.strip_prefix(&self.root).or_else(|| frame.strip_prefix("./"));
        match own {
            Some(own) if VENDORED.iter().any(|dir| own.starts_with(dir)) => Frame::Foreign(short(own)),
            Some(own) => Frame::App(own.to_owned()),
            None if frame.starts_with('/') => Frame::Foreign(short(frame)),
            None if frame.starts_with('(') => Frame::Foreign(frame.to_owned()),
            None => Frame::App(frame.to_owned()),
        }
    }

    /// A place that Ruby names besides a backtrace; outside of the root only the file's name is told.
    pub fn place(&self, file: &str) -> String {
        match self.frame(file) {
            Frame::App(file) | Frame::Foreign(file) => file,
            Frame::Noise => String::new(),
        }
    }

    /// A file that the app depends on, wherever it is: relative to the root from up to two directories above it, else
    /// from the home directory, else only its name.
    pub fn file(&self, path: &Path) -> String {
        let below = |(up, dir): (&str, &Path)| {
            let rest = path.strip_prefix(dir).ok()?;
            Some(format!("{up}{}", rest.display()))
        };
        let home = self.home.as_deref().map(|home| ("~/", Path::new(home)));
        let near = ["", "../", "../../"].into_iter().zip(Path::new(&self.root).ancestors());
        near.filter(|(_, dir)| !self.is_common(dir))
            .chain(home)
            .find_map(below)
            .unwrap_or_else(|| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Whether a directory is no more one person's, or one thing's.
    fn is_common(&self, dir: &Path) -> bool {
        dir.parent().is_none()
            || self
                .home
                .as_deref()
                .is_some_and(|home| Path::new(home).starts_with(dir))
    }

    /// App frames first and at most `limit`; without any, the first few of the others, so that there is a lead.
    pub fn backtrace(&self, frames: &[String], limit: usize) -> Vec<String> {
        let (mut app, mut foreign) = (Vec::new(), Vec::new());
        for frame in frames {
            match self.frame(frame) {
                Frame::App(frame) => app.push(frame),
                Frame::Foreign(frame) => foreign.push(frame),
                Frame::Noise => {}
            }
        }
        if app.is_empty() {
            app = foreign.into_iter().take(FOREIGN).collect();
        }
        app.truncate(limit);
        app
    }
}

/// How Ruby names code that came from a text.
const EVAL: &str = "(eval at ";

/// What the paths of an app begin with.
const IN_AN_APP: &[&str] = &[
    "app/",
    "bin/",
    "config/",
    "config.ru",
    "db/",
    "engines/",
    "Gemfile",
    "gems/",
    "lib/",
    "log/",
    "packs/",
    "public/",
    "spec/",
    "storage/",
    "test/",
    "tmp/",
    "vendor/",
];

/// Replaces `dir` where a path begins, and not in the middle of another one.
fn replace(text: &str, dir: &str, by: &str, counts: impl Fn(&str) -> bool) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(dir) {
        let (before, found) = rest.split_at(at);
        let behind = &found[dir.len()..];
        let last = before.chars().next_back().or_else(|| replaced.chars().next_back());
        let inside = last.is_some_and(|c| c.is_alphanumeric() || "_-.~/".contains(c));
        replaced.push_str(before);
        replaced.push_str(if inside || !counts(behind) { dir } else { by });
        rest = behind;
    }
    replaced + rest
}

/// Frames shown of a backtrace that never touches the app.
const FOREIGN: usize = 5;

/// `/usr/lib/…/gems/rack-3.1/lib/rack.rb:5:in …` → `rack-3.1/lib/rack.rb:5:in …`; without a gem, the file's name.
fn short(frame: &str) -> String {
    let (path, rest) = frame
        .split_once(".rb:")
        .map_or((frame, String::new()), |(path, rest)| (path, format!(".rb:{rest}")));
    let tail = match path.rfind("/gems/") {
        Some(at) => &path[at + "/gems/".len()..],
        None => path.rsplit('/').next().unwrap_or(path),
    };
    format!("{tail}{rest}")
}

/// `./spec/a_spec.rb[1:2]` as callers name it.
pub fn selector(id: &str) -> String {
    id.strip_prefix("./").unwrap_or(id).to_owned()
}

/// A line of a backtrace: `from coatepec/worker/fork.rb:19:in 'Coatepec::Fork.start'`, or what started all of it.
fn is_ours(line: &str) -> bool {
    let line = line.trim_start();
    let frame = line.strip_prefix("from ").unwrap_or(line);
    let file = frame.strip_prefix(OURS);
    file.is_some_and(|rest| rest.starts_with(['/', '.'])) || (line != frame && frame.starts_with("-e:1:in "))
}
