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
        let text = text.replace(&self.root, "");
        match &self.home {
            Some(home) => text.replace(home.as_str(), "~/"),
            None => text,
        }
    }

    pub fn frame(&self, frame: &str) -> Frame {
        if frame.starts_with("coatepec/") || frame.starts_with("<internal:") || frame.starts_with("-e:") {
            return Frame::Noise;
        }
        match frame.strip_prefix(&self.root).or_else(|| frame.strip_prefix("./")) {
            Some(own) if !VENDORED.iter().any(|dir| own.starts_with(dir)) => Frame::App(own.to_owned()),
            _ if frame.starts_with('/') => Frame::Foreign(short(frame)),
            _ if frame.starts_with('(') => Frame::Foreign(frame.to_owned()),
            _ => Frame::App(frame.to_owned()),
        }
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
