//! Tests that go by the name of a file, as Rails apps name them. Pure.

/// A test that would be named after a file. Whether it is there is another matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namesake {
    pub path: String,
    /// It has the place of the file, and not only a part of its name.
    pub exact: bool,
}

/// A file of code, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code<'a> {
    /// The pack, engine or gem that it is in, with a final slash; empty for the app itself.
    pub pack: &'a str,
    /// Below `lib`, and not below `app`.
    pub is_lib: bool,
    /// Below that: `models/ops/thing.rb`.
    pub rest: &'a str,
}

impl<'a> Code<'a> {
    pub fn of(path: &'a str) -> Option<Code<'a>> {
        let mut start = 0;
        for name in path.split('/') {
            let rest = path.get(start + name.len() + 1..)?;
            if matches!(name, "app" | "lib") {
                return Some(Code {
                    pack: &path[..start],
                    is_lib: name == "lib",
                    rest,
                });
            }
            start += name.len() + 1;
        }
        None
    }

    /// `models/ops/thing`, without any of the endings.
    pub fn stem(&self) -> &'a str {
        let name = self.rest.rfind('/').map_or(0, |slash| slash + 1);
        self.rest[name..]
            .find('.')
            .map_or(self.rest, |dot| &self.rest[..name + dot])
    }

    /// `models`, `views`.
    pub fn kind(&self) -> &'a str {
        match self.is_lib {
            true => "lib",
            false => self.rest.split('/').next().unwrap_or_default(),
        }
    }

    /// What is asked for by requests: `admin/widgets` of a controller or of a view.
    pub fn resource(&self) -> Option<String> {
        let stem = self.stem();
        if let Some(name) = stem.strip_prefix("controllers/") {
            let name = name.strip_prefix("concerns/").map_or(name, |_| "");
            return name.strip_suffix("_controller").map(str::to_owned);
        }
        let (directory, _) = stem.strip_prefix("views/")?.rsplit_once('/')?;
        let shared = ["layouts", "shared", "application"].contains(&directory);
        (!shared && !directory.ends_with("_mailer")).then(|| directory.to_owned())
    }

    /// `Ops::Thing` without case and underscores, as no rule of inflection can be known: `ops::thing`.
    pub fn constant(&self) -> Option<String> {
        let stem = self.stem();
        let below = if self.is_lib { stem } else { stem.split_once('/')?.1 };
        let templates = ["views", "assets", "javascript"].contains(&self.kind());
        let below = below.strip_prefix("concerns/").unwrap_or(below);
        let name = below.replace('_', "").replace('/', "::").to_lowercase();
        (!templates && !name.is_empty() && self.rest.ends_with(".rb")).then_some(name)
    }
}

/// Where requests to a controller are tested, and how the files there end before their own ending.
const OF_REQUESTS: [(&str, &str); 8] = [
    ("requests", ""),
    ("requests", "_request"),
    ("integration", ""),
    ("features", ""),
    ("system", ""),
    ("acceptance", ""),
    ("routing", "_routing"),
    ("routing", ""),
];

/// Tests that would be named after the file at `path`, of both frameworks, the likeliest first.
pub fn namesakes(path: &str) -> Vec<Namesake> {
    let Some(code) = Code::of(path) else {
        return Vec::new();
    };
    let exact = exact(&code).into_iter().map(|name| (name, true));
    let others = related(&code).into_iter().map(|name| (name, false));
    let mut found: Vec<Namesake> = Vec::new();
    for (name, exact) in exact.chain(others) {
        for path in [
            format!("{}spec/{name}_spec.rb", code.pack),
            format!("{}test/{name}_test.rb", code.pack),
        ] {
            if !found.iter().any(|known| known.path == path) {
                found.push(Namesake { path, exact });
            }
        }
    }
    found
}

/// Directories in which every test is about the file at `path`, each with a final slash.
pub fn directories(path: &str) -> Vec<String> {
    let Some((code, resource)) = Code::of(path).and_then(|code| Some((code.clone(), code.resource()?))) else {
        return Vec::new();
    };
    let roots = [format!("{}spec", code.pack), format!("{}test", code.pack)];
    let mut kinds: Vec<&str> = OF_REQUESTS.iter().map(|(directory, _)| *directory).collect();
    kinds.dedup();
    let within = |root: &String| {
        let root = root.clone();
        let resource = resource.clone();
        kinds
            .iter()
            .map(move |kind| format!("{root}/{kind}/{resource}/"))
            .collect::<Vec<_>>()
    };
    roots.iter().flat_map(within).collect()
}

fn exact(code: &Code<'_>) -> Vec<String> {
    let stem = code.stem();
    if code.is_lib {
        let own = code.pack.is_empty();
        let mut names = vec![format!("lib/{stem}"), stem.to_owned()];
        // The specs of a gem lie beside its `lib`.
        if !own {
            names.reverse();
        }
        return names;
    }
    let mut names = vec![stem.to_owned()];
    let mut longer = code.rest;
    while let Some((shorter, _)) = longer.rsplit_once('.') {
        if code.kind() == "views" && shorter.len() >= stem.len() {
            names.insert(0, longer.to_owned());
        }
        longer = shorter;
    }
    names
}

fn related(code: &Code<'_>) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(resource) = code.resource() {
        if code.kind() == "views" {
            names.push(format!("controllers/{resource}_controller"));
        }
        names.extend(
            OF_REQUESTS
                .iter()
                .map(|(directory, ending)| format!("{directory}/{resource}{ending}")),
        );
    }
    let mailer = code
        .stem()
        .strip_prefix("views/")
        .and_then(|view| view.rsplit_once('/'));
    if let Some((mailer, _)) = mailer.filter(|(directory, _)| directory.ends_with("_mailer")) {
        names.push(format!("mailers/{mailer}"));
    }
    names
}
