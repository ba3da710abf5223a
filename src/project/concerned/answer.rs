//! Which tests changed files concern, each with its reasons. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::group::roots;
use super::mentions::{Mentions, Offers};
use super::names::{Code, Namesake, directories, namesakes};
use super::subject::Subject;
use crate::project::{Framework, Rules};

/// Reasons told of one test.
const REASONS: usize = 3;

/// A file that was changed.
#[derive(Debug, Clone, Default)]
pub struct Changed {
    pub path: String,
    /// It is not there any more.
    pub gone: bool,
    /// What it holds, of those that define something for tests.
    pub offers: Offers,
}

/// A file of Ruby, and what it names.
#[derive(Debug, Clone)]
pub struct Source {
    pub path: String,
    pub mentions: Mentions,
}

/// What earlier runs with coverage have told.
#[derive(Debug, Clone, Default)]
pub struct Records {
    pub known: Vec<Known>,
    /// Tests of which it is known what they run, as they are now: all of it.
    pub whole: BTreeSet<String>,
}

/// That a test was seen to run lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub test: String,
    pub file: String,
    /// When.
    pub time: String,
    /// What was changed since.
    pub test_changed: bool,
    pub file_changed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// A test that is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Row {
    pub path: String,
    pub confidence: Confidence,
    /// At most three, the best first.
    pub reasons: Vec<String>,
}

/// What concerns one framework.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    pub framework: Framework,
    /// Everything has to be run, because of these.
    pub all_because: Vec<Because>,
    /// The surest first.
    pub tests: Vec<Row>,
}

/// A file, and what it means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Because {
    pub path: String,
    pub reason: String,
}

/// A file for which nothing was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unmatched {
    pub path: String,
    pub reason: String,
    /// Selectors to run instead, those of each framework by themselves.
    pub run: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Of each framework that is concerned.
    pub runs: Vec<Runs>,
    pub unmatched: Vec<Unmatched>,
    /// Files that no test can notice.
    pub nothing: Vec<Because>,
}

/// The tests that `changed` concerns among `tests`, which are all there are. `code`: the app's own files.
pub fn answer(changed: &[Changed], tests: &[Source], code: &[Source], records: &Records, rules: &Rules) -> Answer {
    let mut search = Search {
        tests,
        code,
        records,
        rules,
        found: BTreeMap::new(),
        everything: Vec::new(),
        unmatched: Vec::new(),
        nothing: Vec::new(),
    };
    changed.iter().for_each(|file| search.take(file));
    search.answer()
}

type Reasons = Vec<(Confidence, String)>;

struct Search<'a> {
    tests: &'a [Source],
    code: &'a [Source],
    records: &'a Records,
    rules: &'a Rules,
    found: BTreeMap<String, Reasons>,
    everything: Vec<(Option<Framework>, Because)>,
    unmatched: Vec<Unmatched>,
    nothing: Vec<Because>,
}

impl Search<'_> {
    fn take(&mut self, file: &Changed) {
        let before: usize = self.reasons();
        match Subject::of(&file.path, self.rules) {
            Subject::Test(_) if file.gone => return self.notes_nothing(file, "it is gone"),
            // A run would refuse it, and all that is named beside it.
            Subject::Test(_) if self.tests.iter().all(|test| test.path != file.path) => {
                return self.notes_nothing(file, "no run takes it: it is a link, or has a name that can't be named");
            }
            Subject::Test(_) => self.add(&file.path, Confidence::High, "it was changed itself".to_owned()),
            Subject::Everything(framework, why) => return self.everything(file, framework, why),
            Subject::Nothing(why) => return self.notes_nothing(file, why),
            Subject::Support(framework) => {
                if file.offers.more || file.offers == Offers::default() {
                    return self.everything(file, Some(framework), "the helper loads it for every test");
                }
                self.by_offers(file);
            }
            Subject::Factories => self.by_offers(file),
            Subject::Fixtures => self.by_fixture(file),
            Subject::Code => self.by_code(file),
            Subject::Other => {}
        }
        let by_text = self.reasons() > before;
        self.by_record(file);
        if self.reasons() == before {
            let reason = "no test was seen to run it, is named after it or names it";
            self.unmatched(file, reason, &Framework::ALL);
        } else if !by_text {
            self.others_than_recorded(file);
        }
    }

    /// That one test was seen to run a file says nothing of those that nobody has looked at.
    fn others_than_recorded(&mut self, file: &Changed) {
        let unknown = |test: &Source| !self.records.whole.contains(&test.path);
        let of = |framework: Framework| move |test: &&Source| Framework::of_file(&test.path) == Some(framework);
        let is_open = |framework: &Framework| self.tests.iter().filter(of(*framework)).any(unknown);
        let open: Vec<Framework> = Framework::ALL.into_iter().filter(is_open).collect();
        if !open.is_empty() {
            let reason = "tests were seen to run it, none names it, and of others it is not known what they run";
            self.unmatched(file, reason, &open);
        }
    }

    fn reasons(&self) -> usize {
        self.found.values().map(Vec::len).sum()
    }

    fn add(&mut self, test: &str, confidence: Confidence, reason: String) {
        let reasons = self.found.entry(test.to_owned()).or_default();
        if !reasons.iter().any(|(_, known)| *known == reason) {
            reasons.push((confidence, reason));
        }
    }

    /// Unless better reasons are known.
    fn add_once(&mut self, test: &str, reason: String) {
        if !self.found.contains_key(test) {
            self.add(test, Confidence::Low, reason);
        }
    }

    fn everything(&mut self, file: &Changed, framework: Option<Framework>, why: &str) {
        self.everything.push((framework, because(file, why)));
    }

    fn notes_nothing(&mut self, file: &Changed, why: &str) {
        self.nothing.push(because(file, why));
    }

    fn exists(&self, test: &str) -> bool {
        self.tests
            .binary_search_by(|known| known.path.as_str().cmp(test))
            .is_ok()
    }

    fn by_record(&mut self, file: &Changed) {
        for known in self.records.known.iter().filter(|known| known.file == file.path) {
            if !self.exists(&known.test) {
                continue;
            }
            let (confidence, since) = match (known.test_changed, known.file_changed) {
                (true, _) => (Confidence::Medium, "; the test has changed since"),
                (false, true) => (Confidence::High, "; the file has changed since"),
                (false, false) => (Confidence::High, ""),
            };
            self.add(
                &known.test,
                confidence,
                format!("ran lines of {} at {}{since}", file.path, known.time),
            );
        }
    }

    fn by_code(&mut self, file: &Changed) {
        self.by_name(file);
        if let Some(constant) = Code::of(&file.path).and_then(|code| code.constant()) {
            self.by_constant(file, &constant);
            self.by_users(file, &constant);
        }
        self.by_factory(file);
        self.by_route(file);
    }

    fn by_name(&mut self, file: &Changed) {
        for namesake in self.named_after(&file.path) {
            let (confidence, how) = match namesake.exact {
                true => (Confidence::High, "is named after"),
                false => (Confidence::Medium, "goes by the name of"),
            };
            self.add(&namesake.path, confidence, format!("{how} {}", file.path));
        }
        let below = directories(&file.path);
        let within = |test: &&Source| below.iter().any(|directory| test.path.starts_with(directory));
        for test in self.tests.iter().filter(within) {
            self.add(
                &test.path,
                Confidence::Medium,
                format!("lies in a directory named after {}", file.path),
            );
        }
    }

    fn named_after(&self, path: &str) -> Vec<Namesake> {
        let names = namesakes(path).into_iter();
        names.filter(|namesake| self.exists(&namesake.path)).collect()
    }

    fn by_constant(&mut self, file: &Changed, constant: &str) {
        let last = constant.rsplit("::").next().unwrap_or(constant);
        for test in self.tests {
            let mentions = &test.mentions;
            if mentions.described.contains(constant) {
                let written = mentions.names(constant).unwrap_or(constant);
                self.add(
                    &test.path,
                    Confidence::High,
                    format!("describes {written}, of {}", file.path),
                );
            } else if let Some(written) = mentions.names(constant) {
                self.add(
                    &test.path,
                    Confidence::Medium,
                    format!("names {written}, of {}", file.path),
                );
            } else if last != constant && mentions.constants.contains_key(last) {
                let written = &mentions.constants[last];
                self.add(
                    &test.path,
                    Confidence::Low,
                    format!("names {written}, which may be of {}", file.path),
                );
            }
        }
    }

    /// What uses the file is tested by what is named after that.
    fn by_users(&mut self, file: &Changed, constant: &str) {
        let confidence = if is_concern(&file.path) {
            Confidence::Medium
        } else {
            Confidence::Low
        };
        let code = self.code;
        for user in code.iter().filter(|user| user.path != file.path) {
            let Some(written) = user.mentions.names(constant) else {
                continue;
            };
            for test in self.named_after(&user.path) {
                let reason = format!("tests {}, which names {written}, of {}", user.path, file.path);
                self.add(&test.path, confidence, reason);
            }
        }
        if is_concern(&file.path) {
            self.by_includers(file, constant);
        }
    }

    /// A concern is a part of what includes it, and is tested wherever that is, through other concerns as well.
    fn by_includers(&mut self, file: &Changed, constant: &str) {
        let mut concerns = vec![constant.to_owned()];
        let mut seen = BTreeSet::from([file.path.as_str()]);
        let code = self.code;
        while let Some(concern) = concerns.pop() {
            for user in code.iter().filter(|user| user.mentions.names(&concern).is_some()) {
                if !seen.insert(&user.path) {
                    continue;
                }
                let part = format!("which has a part in {}", file.path);
                for test in self.named_after(&user.path) {
                    self.add_once(&test.path, format!("tests {}, {part}", user.path));
                }
                let constant = Code::of(&user.path).and_then(|code| code.constant());
                for (test, how) in self.references(&user.path, constant.as_deref()) {
                    self.add(&test, Confidence::Low, format!("{how}, of {}, {part}", user.path));
                }
                concerns.extend(constant.filter(|_| is_concern(&user.path)));
            }
        }
    }

    /// Tests that refer to a file in other ways than by their own name, and how.
    fn references(&self, path: &str, constant: Option<&str>) -> Vec<(String, String)> {
        let named = |test: &Source| Some(format!("names {}", test.mentions.names(constant?)?));
        let references = |test: &Source| named(test).or_else(|| made(test, path)).or_else(|| asked(test, path));
        let found = self.tests.iter().map(|test| (test.path.clone(), references(test)));
        found.filter_map(|(test, how)| Some((test, how?))).collect()
    }

    /// Of a model.
    fn by_factory(&mut self, file: &Changed) {
        for test in self.tests {
            if let Some(made) = made(test, &file.path) {
                self.add(&test.path, Confidence::Medium, format!("{made}, of {}", file.path));
            }
        }
    }

    /// Of a controller or its views.
    fn by_route(&mut self, file: &Changed) {
        for test in self.tests {
            if let Some(asked) = asked(test, &file.path) {
                self.add(
                    &test.path,
                    Confidence::Low,
                    format!("{asked}, perhaps of {}", file.path),
                );
            }
        }
    }

    fn by_offers(&mut self, file: &Changed) {
        let Offers {
            factories,
            shared,
            matchers,
            classes,
            ..
        } = &file.offers;
        for test in self.tests {
            let uses = [
                (factories, &test.mentions.factories, "makes a"),
                (shared, &test.mentions.shared, "shares the examples"),
                (matchers, &test.mentions.words, "uses the matcher"),
            ];
            for (offered, used, how) in uses {
                if let Some(name) = offered.intersection(used).next() {
                    self.add(
                        &test.path,
                        Confidence::Medium,
                        format!("{how} {name}, of {}", file.path),
                    );
                }
            }
            if let Some(name) = classes.iter().find_map(|name| test.mentions.names(name)) {
                self.add(
                    &test.path,
                    Confidence::Medium,
                    format!("names {name}, of {}", file.path),
                );
            }
        }
    }

    fn by_fixture(&mut self, file: &Changed) {
        let name = file
            .path
            .rsplit('/')
            .next()
            .and_then(|name| name.split('.').next())
            .unwrap_or_default();
        for test in self.tests.iter().filter(|test| test.mentions.fixtures.contains(name)) {
            self.add(
                &test.path,
                Confidence::Medium,
                format!("uses the fixtures {name}, of {}", file.path),
            );
        }
    }

    fn unmatched(&mut self, file: &Changed, reason: &str, frameworks: &[Framework]) {
        self.unmatched.push(Unmatched {
            path: file.path.clone(),
            reason: reason.to_owned(),
            run: self.instead(&file.path, frameworks),
        });
    }

    /// The nearest directory with tests of each framework: of the same kind, else of the same pack, else all there are.
    fn instead(&self, path: &str, frameworks: &[Framework]) -> Vec<String> {
        let code = Code::of(path);
        let pack = code.as_ref().map_or("", |code| code.pack);
        let kind = code.as_ref().map_or("", Code::kind);
        let nearest = |framework: Framework| {
            let tests = || self.tests.iter().map(|test| &test.path);
            let of = |path: &&String| Framework::of_file(path) == Some(framework);
            let there = |directory: &String| {
                tests()
                    .filter(of)
                    .any(|path| path.starts_with(&format!("{directory}/")))
            };
            let root = framework.root();
            let choices = [format!("{pack}{root}/{kind}"), format!("{pack}{root}"), root.to_owned()];
            match choices.into_iter().find(there) {
                Some(directory) => vec![directory],
                None => roots(tests().filter(of), self.rules),
            }
        };
        frameworks.iter().copied().flat_map(nearest).collect()
    }

    fn answer(self) -> Answer {
        let runs = Framework::ALL.into_iter().filter_map(|framework| self.runs(framework));
        Answer {
            runs: runs.collect(),
            unmatched: self.unmatched,
            nothing: self.nothing,
        }
    }

    fn runs(&self, framework: Framework) -> Option<Runs> {
        let of = |path: &str| Framework::of_file(path) == Some(framework);
        let any = self.tests.iter().any(|test| of(&test.path));
        let all = self
            .everything
            .iter()
            .filter(|(whose, _)| whose.is_none_or(|whose| whose == framework) && any);
        let tests = self
            .found
            .iter()
            .filter(|(test, _)| of(test))
            .map(|(test, reasons)| row(test, reasons));
        let mut tests: Vec<Row> = tests.collect();
        tests.sort_by_key(|row| std::cmp::Reverse(row.confidence));
        let runs = Runs {
            framework,
            all_because: all
                .map(|(_, because)| because.clone())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            tests,
        };
        (!runs.tests.is_empty() || !runs.all_because.is_empty()).then_some(runs)
    }
}

fn is_concern(path: &str) -> bool {
    path.contains("/concerns/")
}

/// How a test makes records of the model in the file.
fn made(test: &Source, path: &str) -> Option<String> {
    let stem = Code::of(path).filter(|code| code.kind() == "models")?.stem();
    let stem = stem.strip_prefix("models/")?;
    let name = stem.rsplit('/').next().unwrap_or(stem);
    let whole = stem.replace('/', "_");
    let made = [name, &whole]
        .into_iter()
        .find(|name| test.mentions.factories.contains(*name));
    let tables = [plural(name), plural(&whole)];
    let table = || tables.iter().find(|table| test.mentions.fixtures.contains(*table));
    made.map(|made| format!("makes a :{made}"))
        .or_else(|| table().map(|table| format!("uses the fixtures {table}")))
}

/// How a test asks for what the controller in the file, or of the view, answers.
fn asked(test: &Source, path: &str) -> Option<String> {
    let resource = Code::of(path)?.resource()?;
    let place = format!("/{resource}");
    let helper = singular(&resource.replace('/', "_"));
    let fits = |route: &&String| match route.strip_prefix(&place) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => !route.starts_with('/') && words(route, &helper),
    };
    let route = test.mentions.routes.iter().find(fits)?;
    Some(format!("asks for {route}"))
}

fn because(file: &Changed, why: &str) -> Because {
    Because {
        path: file.path.clone(),
        reason: why.to_owned(),
    }
}

fn row(test: &str, reasons: &Reasons) -> Row {
    let mut reasons = reasons.clone();
    reasons.sort_by(|(one, _), (other, _)| other.cmp(one));
    Row {
        path: test.to_owned(),
        confidence: reasons.first().map_or(Confidence::Low, |(confidence, _)| *confidence),
        reasons: reasons.into_iter().take(REASONS).map(|(_, reason)| reason).collect(),
    }
}

/// As far as it takes no dictionary.
fn plural(name: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match name.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "z", "ch", "sh"]) => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

fn singular(name: &str) -> String {
    match name.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => name.strip_suffix('s').unwrap_or(name).to_owned(),
    }
}

/// Whether `wanted`, or its plural, stands in `name` as words of their own.
fn words(name: &str, wanted: &str) -> bool {
    let name = format!("_{name}_");
    name.contains(&format!("_{wanted}_")) || name.contains(&format!("_{}_", plural(wanted)))
}
