//! Which files changed since a baseline, on a real file system.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use coatepec::project::changes::ChangeKind::{self, Created, Deleted, Modified};
use coatepec::project::changes::{Change, Snapshot, Target, content};
use coatepec::project::glob::Glob;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

#[test]
fn the_content_of_what_somebody_else_names_is_that_of_a_file_of_some_size() {
    let site = Site::new();
    assert_eq!(content(&site.path("Gemfile")), Some(b"gem 'rails'".to_vec()));
    mkfifo(&site.path("app/pipe.rb"), Mode::S_IRWXU).unwrap();
    File::create(site.path("app/large.rb"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    for path in ["app/pipe.rb", "app/large.rb", "app", "app/missing.rb"] {
        assert_eq!(content(&site.path(path)), None, "{path}");
    }
}

/// A directory with an app's files, and targets that look at some of them.
struct Site {
    dir: TempDir,
    targets: Vec<Target>,
}

impl Site {
    fn new() -> Site {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let tree = Target::Tree {
            dir: at("app"),
            extensions: Some(vec!["rb".into(), "yml".into()]),
            exclude: vec!["assets".into(), at("app/models/scratch.rb")],
            links: false,
        };
        let targets = vec![Target::File(at("Gemfile")), Target::File(at(".env")), tree];
        let site = Site { dir, targets };
        site.write("Gemfile", "gem 'rails'");
        site.write("app/models/widget.rb", "class Widget; end");
        site.write("app/models/deep/er/gadget.rb", "class Gadget; end");
        site
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn set_mtime(&self, path: &str, time: SystemTime) {
        File::options()
            .append(true)
            .open(self.path(path))
            .unwrap()
            .set_modified(time)
            .unwrap();
    }

    fn take(&self) -> Snapshot {
        Snapshot::take(&self.targets)
    }

    fn look(&self) -> Snapshot {
        Snapshot::look(&self.targets)
    }

    fn diff(&self, baseline: &mut Snapshot) -> Vec<(String, ChangeKind)> {
        self.diff_to(baseline, &self.look())
    }

    fn diff_to(&self, baseline: &mut Snapshot, newer: &Snapshot) -> Vec<(String, ChangeKind)> {
        let relative = |path: &Path| path.strip_prefix(self.dir.path()).unwrap().to_str().unwrap().to_owned();
        baseline
            .diff(newer)
            .into_iter()
            .map(|change| (relative(&change.path), change.kind))
            .collect()
    }
}

fn change(path: &str, kind: ChangeKind) -> (String, ChangeKind) {
    (path.to_owned(), kind)
}

const WIDGET: &str = "app/models/widget.rb";

#[test]
fn nothing_changed_is_no_change() {
    let site = Site::new();
    let mut baseline = site.take();
    assert_eq!(baseline.len(), 3);
    assert_eq!(site.diff(&mut baseline), []);
    assert_eq!(site.diff(&mut baseline), []);
}

#[test]
fn created_modified_and_deleted_files_are_named_in_order() {
    let site = Site::new();
    let mut baseline = site.take();
    site.write("app/models/deep/new/thing.rb", "class Thing; end");
    site.write(WIDGET, "class Widget; def price; end; end");
    fs::remove_file(site.path("app/models/deep/er/gadget.rb")).unwrap();
    let expected = [
        change("app/models/deep/er/gadget.rb", Deleted),
        change("app/models/deep/new/thing.rb", Created),
        change(WIDGET, Modified),
    ];
    assert_eq!(site.diff(&mut baseline), expected);
    assert_eq!(
        site.diff(&mut baseline),
        expected,
        "a change stays one until the next baseline"
    );
}

#[test]
fn a_named_file_that_appears_is_a_change() {
    let site = Site::new();
    let mut baseline = site.take();
    site.write(".env", "A=1");
    assert_eq!(site.diff(&mut baseline), [change(".env", Created)]);
}

#[test]
fn a_rename_is_a_deletion_and_a_creation() {
    let site = Site::new();
    let mut baseline = site.take();
    fs::rename(site.path(WIDGET), site.path("app/models/part.rb")).unwrap();
    assert_eq!(
        site.diff(&mut baseline),
        [change("app/models/part.rb", Created), change(WIDGET, Deleted)]
    );
}

#[test]
fn an_edit_of_the_same_size_with_a_restored_mtime_is_seen() {
    let site = Site::new();
    let mtime = fs::metadata(site.path(WIDGET)).unwrap().modified().unwrap();
    let mut baseline = site.take();
    site.write(WIDGET, "class Gidwet; end");
    site.set_mtime(WIDGET, mtime);
    assert_eq!(site.diff(&mut baseline), [change(WIDGET, Modified)]);
}

#[test]
fn an_edit_that_takes_the_mtime_back_is_seen() {
    let site = Site::new();
    let mut baseline = site.take();
    site.write(WIDGET, "class Gidwet; end");
    site.set_mtime(WIDGET, SystemTime::UNIX_EPOCH + Duration::from_secs(86_400));
    assert_eq!(site.diff(&mut baseline), [change(WIDGET, Modified)]);
}

#[test]
fn an_edit_within_the_tick_of_the_baseline_is_seen() {
    let site = Site::new();
    // Writes this close to each other often have the same ctime; whether they do is up to the kernel.
    for round in 0..100 {
        site.write(WIDGET, "class Widget; end");
        let mut baseline = site.take();
        site.write(WIDGET, "class Gidwet; end");
        assert_eq!(site.diff(&mut baseline), [change(WIDGET, Modified)], "round {round}");
    }
}

#[test]
fn a_touch_is_no_change_and_is_read_once() {
    let site = Site::new();
    let mut baseline = site.take();
    site.set_mtime(WIDGET, SystemTime::UNIX_EPOCH);
    let newer = site.look();
    assert_ne!(
        baseline.fingerprint(&site.path(WIDGET)),
        newer.fingerprint(&site.path(WIDGET))
    );
    assert_eq!(site.diff_to(&mut baseline, &newer), []);
    assert_eq!(
        baseline.fingerprint(&site.path(WIDGET)),
        newer.fingerprint(&site.path(WIDGET))
    );
}

#[test]
fn a_checkout_there_and_back_is_no_change() {
    let site = Site::new();
    let mut baseline = site.take();
    // As git does it: a new file takes the place of the old one.
    for text in ["class Widget; X = 1; end", "class Widget; end"] {
        site.write("app/models/tmp", text);
        fs::rename(site.path("app/models/tmp"), site.path(WIDGET)).unwrap();
    }
    assert_eq!(site.diff(&mut baseline), []);
    fs::remove_dir_all(site.path("app/models/deep")).unwrap();
    site.write("app/models/deep/er/gadget.rb", "class Gadget; end");
    assert_eq!(site.diff(&mut baseline), []);
}

#[test]
fn a_directory_replaced_by_a_file_is_seen_both_ways() {
    let site = Site::new();
    site.write("app/models/kind.rb/x.rb", "class X; end");
    let mut baseline = site.take();
    fs::remove_dir_all(site.path("app/models/kind.rb")).unwrap();
    site.write("app/models/kind.rb", "class Kind; end");
    let to_file = [
        change("app/models/kind.rb", Created),
        change("app/models/kind.rb/x.rb", Deleted),
    ];
    assert_eq!(site.diff(&mut baseline), to_file);
    let mut baseline = site.take();
    fs::remove_file(site.path("app/models/kind.rb")).unwrap();
    site.write("app/models/kind.rb/x.rb", "class X; end");
    let to_dir = [
        change("app/models/kind.rb", Deleted),
        change("app/models/kind.rb/x.rb", Created),
    ];
    assert_eq!(site.diff(&mut baseline), to_dir);
}

#[test]
fn other_extensions_and_excluded_paths_are_passed_over() {
    let site = Site::new();
    let mut baseline = site.take();
    for path in [
        "app/notes.txt",
        "app/rb",
        "app/assets/x.rb",
        "app/models/scratch.rb",
        "lib/x.rb",
    ] {
        site.write(path, "x");
    }
    assert_eq!(site.diff(&mut baseline), []);
    site.write("app/models/assets/x.yml", "x");
    assert_eq!(site.diff(&mut baseline), [change("app/models/assets/x.yml", Created)]);
}

#[test]
fn a_tree_without_extensions_holds_every_file() {
    let site = Site::new();
    site.write("app/README", "x");
    let all = Target::Tree {
        dir: site.path("app"),
        extensions: None,
        exclude: vec![],
        links: false,
    };
    assert_eq!(Snapshot::look(&[all]).len(), 3);
}

#[test]
fn a_named_symlink_stands_for_its_target() {
    let site = Site::new();
    fs::rename(site.path("Gemfile"), site.path("Gemfile.real")).unwrap();
    symlink("Gemfile.real", site.path("Gemfile")).unwrap();
    let mut baseline = site.take();
    site.write("Gemfile.real", "gem 'sinatra'");
    assert_eq!(site.diff(&mut baseline), [change("Gemfile", Modified)]);
    site.write("Gemfile.same", "gem 'rails'");
    fs::remove_file(site.path("Gemfile")).unwrap();
    symlink("Gemfile.same", site.path("Gemfile")).unwrap();
    assert_eq!(site.diff(&mut baseline), [], "another file with the same content");
    fs::remove_file(site.path("Gemfile.same")).unwrap();
    assert_eq!(
        site.diff(&mut baseline),
        [change("Gemfile", Deleted)],
        "the link dangles"
    );
}

#[test]
fn in_a_tree_links_to_files_count_and_links_to_directories_do_not() {
    let site = Site::new();
    site.write("shared/part.rb", "class Part; end");
    symlink(site.path("shared/part.rb"), site.path("app/part.rb")).unwrap();
    symlink(site.path("shared"), site.path("app/shared.rb")).unwrap();
    symlink("..", site.path("app/models/up")).unwrap();
    symlink("nowhere", site.path("app/dangling.rb")).unwrap();
    let mut baseline = site.take();
    assert_eq!(baseline.len(), 4);
    site.write("shared/part.rb", "class Part; X = 1; end");
    assert_eq!(site.diff(&mut baseline), [change("app/part.rb", Modified)]);
}

#[test]
fn in_a_tree_with_links_directories_behind_them_belong_to_it() {
    let site = Site::new();
    site.write("shared/deep/part.rb", "class Part; end");
    symlink(site.path("shared"), site.path("app/shared")).unwrap();
    symlink("..", site.path("app/models/up")).unwrap();
    symlink(site.path("shared"), site.path("shared/again")).unwrap();
    let tree = Target::Tree {
        dir: site.path("app"),
        extensions: Some(vec!["rb".into()]),
        exclude: vec![],
        links: true,
    };
    let targets = [tree];
    let mut baseline = Snapshot::take(&targets);
    assert_eq!(baseline.len(), 3);
    site.write("shared/deep/new.rb", "class New; end");
    assert_eq!(
        baseline.diff(&Snapshot::look(&targets)),
        [change_at(&site, "app/shared/deep/new.rb", Created)]
    );
}

fn listing(site: &Site, pattern: &str) -> Vec<Target> {
    vec![Target::Listing {
        glob: Glob::new(&site.path("app"), pattern),
        exclude: vec![site.path("app/log")],
    }]
}

fn change_at(site: &Site, path: &str, kind: ChangeKind) -> Change {
    Change {
        path: site.path(path),
        kind,
    }
}

#[test]
fn of_a_listing_counts_what_is_there_and_not_what_is_in_it() {
    let site = Site::new();
    let targets = listing(&site, "*/*.rb");
    let mut baseline = Snapshot::take(&targets);
    assert_eq!(baseline.len(), 1);
    site.write(WIDGET, "class Widget; X = 1; end");
    assert_eq!(baseline.diff(&Snapshot::look(&targets)), []);
    site.write("app/models/new.rb", "");
    site.write("app/models/deep/new.rb", "");
    let changes = baseline.diff(&Snapshot::look(&targets));
    assert_eq!(changes, [change_at(&site, "app/models/new.rb", Created)]);
    baseline.refresh(changes.iter().map(|change| &change.path));
    assert_eq!(baseline.diff(&Snapshot::look(&targets)), []);
    site.write("app/models/new.rb", "# more");
    assert_eq!(baseline.diff(&Snapshot::look(&targets)), []);
    fs::remove_file(site.path(WIDGET)).unwrap();
    assert_eq!(
        baseline.diff(&Snapshot::look(&targets)),
        [change_at(&site, WIDGET, Deleted)]
    );
}

#[test]
fn a_listing_holds_directories_too_whatever_happens_in_them() {
    let site = Site::new();
    let targets = listing(&site, "*");
    let mut baseline = Snapshot::take(&targets);
    assert_eq!(baseline.len(), 1);
    site.write("app/models/new.rb", "");
    assert_eq!(baseline.diff(&Snapshot::look(&targets)), []);
    fs::create_dir(site.path("app/queries")).unwrap();
    let changes = baseline.diff(&Snapshot::look(&targets));
    assert_eq!(changes, [change_at(&site, "app/queries", Created)]);
    baseline.refresh(changes.iter().map(|change| &change.path));
    assert_eq!(baseline.diff(&Snapshot::look(&targets)), []);
}

#[test]
fn a_deep_listing_passes_over_what_is_hidden_excluded_or_behind_a_link() {
    let site = Site::new();
    site.write("shared/part.rb", "");
    symlink(site.path("shared"), site.path("app/models/shared")).unwrap();
    for path in ["app/log/x.rb", "app/.git/x.rb", "app/log.rb"] {
        site.write(path, "");
    }
    let found = |pattern: &str| Snapshot::look(&listing(&site, pattern)).len();
    assert_eq!(found("**/*.rb"), 3, "a widget, a gadget and log.rb");
    assert_eq!(found("*/shared/*.rb"), 1, "named links are followed");
    assert_eq!(found("**"), 3, "models, log and log.rb");
}

#[test]
fn a_file_of_a_listing_may_come_to_be_read_later() {
    let site = Site::new();
    let listed = listing(&site, "*/*.rb");
    let read = [listed.clone(), vec![Target::File(site.path(WIDGET))]].concat();
    let mut baseline = Snapshot::take(&listed);
    let since = SystemTime::now() + Duration::from_secs(1);
    baseline.add_missing(Snapshot::take(&read), since);
    assert_eq!(baseline.diff(&Snapshot::look(&read)), []);
    site.write(WIDGET, "class Widget; X = 1; end");
    assert_eq!(
        baseline.diff(&Snapshot::look(&read)),
        [change_at(&site, WIDGET, Modified)]
    );
}

/// Whoever watches a file for its content learns of an edit, whatever listing holds it, too.
#[test]
fn a_file_in_a_listing_may_be_watched_for_its_content_as_well() {
    let site = Site::new();
    let mut targets = listing(&site, "**/*.rb");
    targets.push(Target::File(site.path(WIDGET)));
    targets.extend(listing(&site, "*/*.rb"));
    let mut baseline = Snapshot::take(&targets);
    site.write(WIDGET, "class Widget; X = 1; end");
    assert_eq!(
        baseline.diff(&Snapshot::look(&targets)),
        [change_at(&site, WIDGET, Modified)]
    );
}

#[test]
fn pipes_are_never_opened() {
    let site = Site::new();
    mkfifo(&site.path("app/pipe.rb"), Mode::S_IRWXU).unwrap();
    mkfifo(&site.path(".env"), Mode::S_IRWXU).unwrap();
    let mut baseline = site.take();
    assert_eq!(baseline.len(), 3);
    // A file that turns into a pipe between the look and the reading.
    site.set_mtime(WIDGET, SystemTime::UNIX_EPOCH);
    let newer = site.look();
    fs::remove_file(site.path(WIDGET)).unwrap();
    mkfifo(&site.path(WIDGET), Mode::S_IRWXU).unwrap();
    assert_eq!(site.diff_to(&mut baseline, &newer), [change(WIDGET, Modified)]);
    assert_eq!(site.diff(&mut baseline), [change(WIDGET, Deleted)]);
}

#[test]
fn a_file_that_vanishes_before_it_is_read_is_a_change() {
    let site = Site::new();
    let mut baseline = site.take();
    site.set_mtime(WIDGET, SystemTime::UNIX_EPOCH);
    let newer = site.look();
    fs::remove_file(site.path(WIDGET)).unwrap();
    assert_eq!(site.diff_to(&mut baseline, &newer), [change(WIDGET, Modified)]);
}

#[test]
fn a_huge_file_is_known_by_its_fingerprint_alone() {
    let site = Site::new();
    for (size, after_touch) in [
        (1024 * 1024, vec![]),
        (1024 * 1024 + 1, vec![change("Gemfile", Modified)]),
    ] {
        site.write("Gemfile", &"x".repeat(size));
        let mut baseline = site.take();
        assert_eq!(site.diff(&mut baseline), [], "{size} bytes, untouched");
        site.set_mtime("Gemfile", SystemTime::UNIX_EPOCH);
        assert_eq!(site.diff(&mut baseline), after_touch, "{size} bytes, touched");
    }
}

#[test]
fn missing_directories_are_empty() {
    let site = Site::new();
    fs::remove_dir_all(site.path("app")).unwrap();
    let mut baseline = site.take();
    site.write(WIDGET, "class Widget; end");
    assert_eq!(site.diff(&mut baseline), [change(WIDGET, Created)]);
}

#[test]
fn against_a_mere_look_the_fingerprint_decides() {
    let site = Site::new();
    let mut baseline = site.look();
    assert_eq!(site.diff(&mut baseline), []);
    site.set_mtime(WIDGET, SystemTime::UNIX_EPOCH);
    assert_eq!(site.diff(&mut baseline), [change(WIDGET, Modified)]);
}

#[test]
fn the_next_baseline_forgets_changes_and_still_confirms_by_content() {
    let site = Site::new();
    for first in [site.take(), site.look()] {
        site.write(WIDGET, "class Widget; X = 1; end");
        let mut next = first.retake(&site.targets);
        assert_eq!(site.diff(&mut next), []);
        for path in [WIDGET, "Gemfile"] {
            site.set_mtime(path, SystemTime::UNIX_EPOCH);
        }
        assert_eq!(site.diff(&mut next), []);
        site.write(WIDGET, "class Widget; end");
        assert_eq!(site.diff(&mut next), [change(WIDGET, Modified)]);
    }
}

#[test]
fn files_watched_from_now_on_join_a_baseline_that_keeps_its_own() {
    let site = Site::new();
    let mut baseline = Snapshot::take(&site.targets[..1]);
    site.write("Gemfile", "gem 'sinatra'");
    baseline.add_missing(site.take(), SystemTime::now() + Duration::from_secs(1));
    assert_eq!(baseline.len(), 3);
    assert_eq!(site.diff(&mut baseline), [change("Gemfile", Modified)]);
}

#[test]
fn a_file_that_changed_while_it_was_being_loaded_does_not_join_a_baseline() {
    let site = Site::new();
    let before = SystemTime::now() - Duration::from_secs(1);
    let mut baseline = Snapshot::default();
    site.write("Gemfile", "gem 'sinatra'");
    let now = site.take();
    assert!(now.unknown_since(&baseline, before).contains(&site.path("Gemfile")));
    baseline.add_missing(now, before);
    assert!(baseline.is_empty());
}

#[test]
fn refreshing_some_files_leaves_the_changes_of_the_others() {
    let site = Site::new();
    let mut baseline = site.take();
    site.write("Gemfile", "gem 'sinatra'");
    site.write(WIDGET, "class Widget; def later = 1; end");
    baseline.refresh(&[site.path("Gemfile")]);
    assert_eq!(site.diff(&mut baseline), [change(WIDGET, Modified)]);
}

#[test]
fn a_file_put_back_to_an_older_baseline_is_a_change_again() {
    let site = Site::new();
    let older = site.take();
    site.write(WIDGET, "class Widget; X = 1; end");
    site.write(".env", "A=1");
    let baseline = site.take();
    assert_eq!(site.diff(&mut baseline.clone()), []);
    let mut baseline = baseline.with_older(&older, &[site.path(WIDGET), site.path(".env")]);
    assert_eq!(
        site.diff(&mut baseline),
        [change(".env", Created), change(WIDGET, Modified)]
    );
}

#[test]
fn files_are_watched_by_how_their_names_begin_and_not_further_down() {
    let site = Site::new();
    let targets = [Target::Named {
        dir: site.path(""),
        prefixes: &["Gemfile", ".env"],
    }];
    site.write("Gemfile", "1");
    let mut baseline = Snapshot::take(&targets);
    site.write("Gemfile", "2");
    site.write(".env.test", "new");
    for other in ["sub/Gemfile", "NotAGemfile", "env"] {
        site.write(other, "not asked for");
    }
    std::os::unix::fs::symlink(site.path("env"), site.path("Gemfile.link")).unwrap();
    let changes = site.diff_to(&mut baseline, &Snapshot::look(&targets));
    assert_eq!(
        changes,
        [
            change(".env.test", ChangeKind::Created),
            change("Gemfile", ChangeKind::Modified),
            change("Gemfile.link", ChangeKind::Created),
        ]
    );
}
