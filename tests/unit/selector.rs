//! What may be named and what not, in a tree that exists only as a list of lines.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use coatepec::project::everything::{apart_in, everything_in};
use coatepec::project::roots::{Place, matches};
use coatepec::project::selector::{MAX_FILES, MAX_SELECTORS, select_in};
use coatepec::project::tree::{Entry, EntryKind, Found, Tree};
use coatepec::project::{Filter, Framework, Refusal, Rules, Selection, Selector};

/// Files by their paths; `dir/` is an empty directory, `link@` a link to a file, `link@/` one to a
/// directory, `pipe|` a fifo.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    kinds: BTreeMap<String, EntryKind>,
    ignores_case: bool,
}

impl Listed {
    pub(crate) fn new<S: AsRef<str>>(lines: &[S]) -> Listed {
        let mut listed = Listed::default();
        listed.kinds.insert(String::new(), EntryKind::Directory);
        for line in lines {
            let (path, kind) = understand(line.as_ref());
            for (slash, _) in path.match_indices('/') {
                listed.kinds.insert(path[..slash].to_owned(), EntryKind::Directory);
            }
            listed.kinds.insert(path.to_owned(), kind);
        }
        listed
    }

    fn ignoring_case(mut self) -> Listed {
        self.ignores_case = true;
        self
    }

    fn spelled(&self, path: &str) -> Option<(&String, EntryKind)> {
        let same = |known: &&String| match self.ignores_case {
            true => known.to_lowercase() == path.to_lowercase(),
            false => *known == path,
        };
        let known = self.kinds.keys().find(same)?;
        Some((known, self.kinds[known]))
    }
}

fn understand(line: &str) -> (&str, EntryKind) {
    if let Some(path) = line.strip_suffix("@/") {
        return (path, EntryKind::Symlink { to_directory: true });
    }
    match line.char_indices().last() {
        Some((at, '@')) => (&line[..at], EntryKind::Symlink { to_directory: false }),
        Some((at, '/')) => (&line[..at], EntryKind::Directory),
        Some((at, '|')) => (&line[..at], EntryKind::Other),
        _ => (line, EntryKind::File),
    }
}

impl Tree for Listed {
    fn root(&self) -> &Path {
        Path::new("/app")
    }

    fn probe(&self, path: &str) -> Found {
        let slashes = path.match_indices('/').map(|(at, _)| at);
        for on_the_way in slashes.map(|at| &path[..at]) {
            if let Some((link, EntryKind::Symlink { .. })) = self.spelled(on_the_way) {
                return Found::Symlink(link.clone());
            }
        }
        match self.spelled(path) {
            None => Found::Missing,
            Some((path, EntryKind::File)) => Found::File(path.clone()),
            Some((path, EntryKind::Directory)) => Found::Directory(path.clone()),
            Some((path, EntryKind::Symlink { .. })) => Found::Symlink(path.clone()),
            Some((path, EntryKind::Other)) => Found::Other(path.clone()),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        let below = |known: &str| {
            let rest = match path {
                "" => known,
                path => known.strip_prefix(path)?.strip_prefix('/')?,
            };
            (!rest.is_empty() && !rest.contains('/')).then(|| OsString::from(rest))
        };
        let entries = self.kinds.iter().filter_map(|(known, kind)| {
            Some(Entry {
                name: below(known)?,
                kind: *kind,
            })
        });
        Ok(entries.collect())
    }
}

fn app() -> Listed {
    Listed::new(&[
        "README.md",
        "app/models/widget.rb",
        "config/application.rb",
        "engines/billing/lib/billing.rb",
        "engines/billing/spec/invoice_spec.rb",
        "gems/money/spec/money_spec.rb",
        "packs/linked@/",
        "packs/parcels/README.md",
        "packs/parcels/app/parcel.rb",
        "packs/parcels/app/stray_spec.rb",
        "packs/parcels/spec/parcel_spec.rb",
        "packs/posts/spec/post_spec.rb",
        "packs/spec_less/app/thing.rb",
        "spec/-dash_spec.rb",
        "spec/.hidden_spec.rb",
        "spec/Case_Spec.rb",
        "spec/a:2_spec.rb",
        "spec/br_spec.rb[1:2]_spec.rb",
        "spec/brack[1]_spec.rb",
        "spec/dir:1/inner_spec.rb",
        "spec/empty/",
        "spec/linked@/",
        "spec/linked_spec.rb@",
        "spec/models/gadget_spec.rb",
        "spec/models/note.txt@",
        "spec/models/user_spec.rb",
        "spec/models/widget_spec.rb",
        "spec/pipe_spec.rb|",
        "spec/rails_helper.rb",
        "spec/sp ace_spec.rb",
        "spec/{a,b}_spec.rb",
        "spec/ü_spec.rb",
    ])
}

/// With tests beside the specs.
fn app_of_two_frameworks() -> Listed {
    Listed::new(&[
        "engines/billing/test/models/invoice_test.rb",
        "packs/parcels/test/models/parcel_test.rb",
        "packs/parcels/test/test_helper.rb",
        "spec/models/widget_spec.rb",
        "test/Case_Test.rb",
        "test/models/widget_test.rb",
        "test/odd_test.rb#test_here_test.rb",
    ])
}

fn select(tree: &Listed, named: &[&str]) -> Result<Selection, Vec<Refusal>> {
    select_in(tree, &Rules::default(), named)
}

/// What RSpec gets for `named`.
fn arguments(named: &[&str]) -> Vec<String> {
    let selection = select(&app(), named).unwrap_or_else(|refused| panic!("{refused:#?}"));
    selection.selectors.iter().map(Selector::to_argument).collect()
}

fn refusals(named: &[&str]) -> Vec<Refusal> {
    select(&app(), named).expect_err("everything was accepted")
}

fn refusal(named: &str) -> Refusal {
    refusals(&[named]).remove(0)
}

#[test]
fn a_file_below_a_directory_for_specs_is_accepted() {
    let accepted = [
        ("spec/models/widget_spec.rb", "./spec/models/widget_spec.rb"),
        ("./spec/models/widget_spec.rb", "./spec/models/widget_spec.rb"),
        ("spec//models/./widget_spec.rb", "./spec/models/widget_spec.rb"),
        (
            "packs/parcels/spec/parcel_spec.rb",
            "./packs/parcels/spec/parcel_spec.rb",
        ),
        (
            "engines/billing/spec/invoice_spec.rb",
            "./engines/billing/spec/invoice_spec.rb",
        ),
        ("gems/money/spec/money_spec.rb", "./gems/money/spec/money_spec.rb"),
        ("spec/.hidden_spec.rb", "./spec/.hidden_spec.rb"),
    ];
    for (named, argument) in accepted {
        assert_eq!(arguments(&[named]), [argument], "{named}");
    }
}

#[test]
fn a_suffix_picks_examples() {
    let accepted = [
        (":12", ":12"),
        (":12:40", ":12:40"),
        (":40:12:40", ":12:40"),
        (":007", ":7"),
        ("[1]", "[1]"),
        ("[1:2]", "[1:2]"),
        ("[1:2,1:3]", "[1:2,1:3]"),
        ("[1:10, 1:9 ,1:10]", "[1:9,1:10]"),
    ];
    for (suffix, passed_on) in accepted {
        let named = format!("spec/models/widget_spec.rb{suffix}");
        let argument = format!("./spec/models/widget_spec.rb{passed_on}");
        assert_eq!(arguments(&[&named]), [argument], "{named}");
    }
}

#[test]
fn tests_are_named_by_line_or_by_name() {
    let table: &[(&[&str], &[&str])] = &[
        (
            &["test"],
            &["test/models/widget_test.rb", "test/odd_test.rb#test_here_test.rb"],
        ),
        (&["packs"], &["packs/parcels/test/models/parcel_test.rb"]),
        (&["engines/billing"], &["engines/billing/test/models/invoice_test.rb"]),
        (&["test/models/widget_test.rb:3:1"], &["test/models/widget_test.rb:1:3"]),
        (
            &["test/models/widget_test.rb#test_it"],
            &["test/models/widget_test.rb#test_it"],
        ),
        (
            &["test/models/widget_test.rb#WidgetTest#test_at 10:30 [1:2]"],
            &["test/models/widget_test.rb#WidgetTest#test_at 10:30 [1:2]"],
        ),
        (
            &["test/models/widget_test.rb#test_of_other_test.rb#x"],
            &["test/models/widget_test.rb#test_of_other_test.rb#x"],
        ),
        (
            &[
                "test/models/widget_test.rb#b",
                "test/models/widget_test.rb#a",
                "test/models/widget_test.rb#b",
            ],
            &["test/models/widget_test.rb#a", "test/models/widget_test.rb#b"],
        ),
        (
            &["test/models/widget_test.rb#b", "test/models"],
            &["test/models/widget_test.rb"],
        ),
        (
            &["test/odd_test.rb#test_here_test.rb"],
            &["test/odd_test.rb#test_here_test.rb"],
        ),
    ];
    for (named, expected) in table {
        let selection = select(&app_of_two_frameworks(), named).unwrap_or_else(|refused| panic!("{refused:#?}"));
        let selectors: Vec<String> = selection.selectors.iter().map(ToString::to_string).collect();
        assert_eq!(selectors, *expected, "{named:?}");
        assert_eq!(selection.framework(), Framework::Minitest, "{named:?}");
    }
}

#[test]
fn what_is_not_minitests_is_refused() {
    let table: &[(&[&str], &str)] = &[
        (&["test/models/widget_test.rb[1:2]"], "malformed_suffix"),
        (&["test/models/widget_test.rb#"], "malformed_suffix"),
        (&["test/models/widget_test.rb# "], "malformed_suffix"),
        (&["test/models/widget_test.rb:0"], "malformed_suffix"),
        (&["test/Case_Test.rb"], "wrong_kind"),
        (&["packs/parcels/test/test_helper.rb"], "wrong_kind"),
        (&["test/models#test_it"], "not_found"),
        (&["spec", "test"], "mixed_frameworks"),
        (&["."], "mixed_frameworks"),
    ];
    for (named, code) in table {
        let refused = select(&app_of_two_frameworks(), named).expect_err(&format!("{named:?}"));
        assert_eq!(refused[0].code, *code, "{named:?}");
        assert_eq!(refused[0].selector, named[named.len() - 1], "{named:?}");
    }
}

#[test]
fn a_name_that_looks_like_a_suffix_or_an_option_is_taken_literally() {
    let accepted = [
        "spec/a:2_spec.rb",
        "spec/a:2_spec.rb:3",
        "spec/a:2_spec.rb[1:2]",
        "spec/brack[1]_spec.rb",
        "spec/brack[1]_spec.rb[1:2]",
        "spec/br_spec.rb[1:2]_spec.rb",
        "spec/br_spec.rb[1:2]_spec.rb:4",
        "spec/sp ace_spec.rb",
        "spec/{a,b}_spec.rb",
        "spec/-dash_spec.rb",
        "spec/ü_spec.rb:9",
        "spec/dir:1/inner_spec.rb:2",
    ];
    for named in accepted {
        assert_eq!(arguments(&[named]), [format!("./{named}")]);
    }
}

#[test]
fn a_suffix_that_is_malformed_is_refused_as_such() {
    let suffixes = [
        ":",
        ":0",
        ":1:",
        ":1:0",
        "::1",
        ":x",
        ":1-5",
        ":+1",
        ":99999999999",
        ":12:in 'block'",
        "[]",
        "[0:1]",
        "[1:]",
        "[1:2",
        "[1:2,]",
        "[,]",
        "[1 :2]",
        "[a]",
        "[1:2]:3",
        ":3[1:2]",
        "[1][2]",
        "[-1]",
        ":１",
    ];
    for suffix in suffixes {
        let refusal = refusal(&format!("spec/models/widget_spec.rb{suffix}"));
        assert_eq!(refusal.code, "malformed_suffix", "{suffix}: {refusal:?}");
        assert!(refusal.reason.contains("spec/models/widget_spec.rb"), "{refusal:?}");
    }
}

#[test]
fn each_kind_of_refusal_has_its_code() {
    let refused = [
        ("", "empty"),
        ("  ", "empty"),
        ("/etc/passwd", "absolute_path"),
        ("../other/spec/a_spec.rb", "parent_directory"),
        ("spec/../spec/models/widget_spec.rb", "parent_directory"),
        ("spec/models/..", "parent_directory"),
        ("spec/..:1", "parent_directory"),
        ("spec/models/widget_spec.rb\n--help", "control_character"),
        ("spec/\u{7f}_spec.rb", "control_character"),
        ("spec/\u{85}_spec.rb", "control_character"),
        ("README.md", "outside_roots"),
        ("config/application.rb:3", "outside_roots"),
        ("nowhere/at_all_spec.rb", "outside_roots"),
        ("--help", "outside_roots"),
        ("-e", "outside_roots"),
        ("tests/models/widget_test.rb", "outside_roots"),
        ("spec/models/widget_spec.rb#test_it", "malformed_suffix"),
        ("packs/parcels/README.md", "outside_roots"),
        ("packs/parcels/app/stray_spec.rb", "outside_roots"),
        ("spec:", "wrong_kind"),
        ("spec/models/nothing_spec.rb", "not_found"),
        ("spec/models/nothing_spec.rb:3", "not_found"),
        ("spec/*_spec.rb", "not_found"),
        ("spec/models/widget_spec.rb/deeper_spec.rb", "not_found"),
        ("spec/empty", "not_found"),
        ("packs/spec_less", "not_found"),
        ("~/spec/a_spec.rb", "outside_roots"),
        ("spec/rails_helper.rb", "wrong_kind"),
        ("spec/Case_Spec.rb", "wrong_kind"),
        ("spec/models/widget_spec.rb/", "wrong_kind"),
        ("spec/models/widget_spec.rb/.", "wrong_kind"),
        ("spec/pipe_spec.rb", "wrong_kind"),
        ("spec/models:1", "wrong_kind"),
        ("spec/models/:1", "wrong_kind"),
        ("spec/models[1:1]", "wrong_kind"),
        ("spec:1", "wrong_kind"),
        (".:1", "wrong_kind"),
        ("spec/dir:1:2", "not_found"),
        ("spec/linked", "symlink"),
        ("spec/linked/deep/a_spec.rb:3", "symlink"),
        ("spec/linked_spec.rb", "symlink"),
        ("packs/linked", "symlink"),
        ("packs/linked/spec", "symlink"),
        ("packs/linked/spec/a_spec.rb", "symlink"),
    ];
    for (named, code) in refused {
        let refusal = refusal(named);
        assert_eq!(refusal.code, code, "{named:?}: {refusal:?}");
    }
}

#[test]
fn a_name_that_is_not_utf8_is_refused() {
    let named = OsStr::from_bytes(b"spec/caf\xe9_spec.rb");
    let refused = select_in(&app(), &Rules::default(), &[named]).unwrap_err();
    assert_eq!(refused[0].code, "not_utf8");
    assert_eq!(refused[0].selector, "spec/caf\u{fffd}_spec.rb");
}

#[test]
fn a_name_that_is_too_long_is_refused_and_quoted_in_part() {
    let refusal = refusal(&"spec/".repeat(1_000));
    assert_eq!(refusal.code, "too_long");
    assert_eq!(refusal.selector.chars().count(), 201);
}

#[test]
fn an_absolute_path_below_the_root_is_refused_with_its_relative_form() {
    let hint = refusal("/app/spec/models/widget_spec.rb:12").hint.unwrap();
    assert!(hint.contains("`spec/models/widget_spec.rb:12`"), "{hint}");
    let hint = refusal("/app/spec/../spec/a_spec.rb").hint.unwrap();
    assert!(!hint.contains(".."), "{hint}");
    let hint = refusal("/application/spec/a_spec.rb").hint.unwrap();
    assert!(!hint.contains("lication"), "{hint}");
}

#[test]
fn a_symbolic_link_is_named() {
    for (named, link) in [
        ("packs/linked/spec/a_spec.rb", "packs/linked"),
        ("spec/linked/a_spec.rb:3", "spec/linked"),
    ] {
        let refusal = refusal(named);
        assert!(refusal.reason.contains(&format!("`{link}`")), "{refusal:?}");
    }
}

#[test]
fn a_path_that_can_not_be_run_is_answered_with_what_was_meant() {
    let suggested = [
        ("spec/models/wdget_spec.rb", "`spec/models/widget_spec.rb`"),
        ("spec/modles/widget_spec.rb:3", "`spec/models/widget_spec.rb`"),
        ("spec/widget_spec.rb", "`spec/models/widget_spec.rb`"),
        ("spec/models/widget.rb", "`spec/models/widget_spec.rb`"),
        ("app/models/widget.rb", "`spec/models/widget_spec.rb`"),
        ("spec/modles", "`spec/models`"),
        (
            "packs/parcel/spec/parcel_spec.rb",
            "`packs/parcels/spec/parcel_spec.rb`",
        ),
    ];
    for (named, meant) in suggested {
        let hint = refusal(named).hint.unwrap();
        assert!(hint.contains(meant), "{named}: {hint}");
    }
}

#[test]
fn suggestions_are_three_at_most_closest_first() {
    let tree = Listed::new(&["a", "b", "c", "d", "e"].map(|name| format!("spec/widget_{name}_spec.rb")));
    let refused = select(&tree, &["spec/widget_c_spec.rc"]).unwrap_err();
    assert!(
        refused[0].hint.as_ref().unwrap().starts_with("selectors are"),
        "no directory is like it"
    );
    let refused = select(&tree, &["spec/widgets_c_spec.rb"]).unwrap_err();
    let hint = refused[0].hint.as_ref().unwrap();
    assert!(hint.starts_with("did you mean `spec/widget_c_spec.rb` or"), "{hint}");
    assert_eq!(hint.matches("spec.rb").count(), 3, "{hint}");
}

#[test]
fn a_pattern_is_answered_with_what_to_do_instead() {
    let hint = refusal("spec/models/zzz*").hint.unwrap();
    assert!(hint.starts_with("patterns are not expanded"), "{hint}");
}

#[test]
fn all_refused_selectors_are_reported_in_order() {
    let refused = refusals(&[
        "spec/nothing_at_all",
        "spec/models/widget_spec.rb",
        "/etc",
        "spec/linked",
    ]);
    let said: Vec<_> = refused
        .iter()
        .map(|refusal| (refusal.selector.as_str(), refusal.code))
        .collect();
    let expected = [
        ("spec/nothing_at_all", "not_found"),
        ("/etc", "absolute_path"),
        ("spec/linked", "symlink"),
    ];
    assert_eq!(said, expected);
}

#[test]
fn one_to_a_hundred_selectors_are_accepted() {
    let named = vec!["spec/models/widget_spec.rb"; MAX_SELECTORS + 1];
    assert_eq!(arguments(&named[1..]).len(), 1);
    assert_eq!(refusals(&named)[0].code, "too_many");
    assert_eq!(refusals(&[])[0].code, "none_given");
}

#[test]
fn a_directory_stands_for_its_spec_files_sorted() {
    let models = [
        "./spec/models/gadget_spec.rb",
        "./spec/models/user_spec.rb",
        "./spec/models/widget_spec.rb",
    ];
    assert_eq!(arguments(&["spec/models"]), models);
    assert_eq!(arguments(&["./spec/models/"]), models);
    assert_eq!(arguments(&["spec/dir:1"]), ["./spec/dir:1/inner_spec.rb"]);
}

#[test]
fn a_directory_above_stands_for_the_directories_for_specs_below_it() {
    assert_eq!(
        arguments(&["packs"]),
        ["./packs/parcels/spec/parcel_spec.rb", "./packs/posts/spec/post_spec.rb"]
    );
    assert_eq!(arguments(&["packs/parcels"]), ["./packs/parcels/spec/parcel_spec.rb"]);
    assert_eq!(arguments(&["engines"]), ["./engines/billing/spec/invoice_spec.rb"]);
    let all = arguments(&["."]);
    assert!(all.contains(&"./gems/money/spec/money_spec.rb".to_owned()), "{all:?}");
    assert!(!all.iter().any(|file| file.contains("stray")), "{all:?}");
}

#[test]
fn links_and_fifos_in_a_directory_are_skipped_and_reported() {
    let selection = select(&app(), &["spec", "packs", "spec/models"]).unwrap();
    let skipped: Vec<_> = selection.skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    let expected = [
        "packs/linked",
        "spec/linked",
        "spec/linked_spec.rb",
        "spec/pipe_spec.rb",
    ];
    assert_eq!(skipped, expected, "a link that is no spec does not matter");
    assert!(
        selection.skipped[0].reason.contains("symbolic link"),
        "{:?}",
        selection.skipped
    );
    assert!(
        selection
            .selectors
            .iter()
            .all(|selector| !selector.path.contains("hidden"))
    );
}

#[test]
fn an_entry_whose_name_can_not_be_passed_on_is_skipped() {
    let selection = select(&Listed::new(&["spec/a_spec.rb", "spec/new\nline_spec.rb"]), &["spec"]).unwrap();
    assert_eq!(selection.selectors.len(), 1);
    assert_eq!(selection.skipped[0].path, "spec/new\\nline_spec.rb");
}

#[test]
fn a_directory_of_links_only_is_refused_with_what_was_left_out() {
    let refused = select(&Listed::new(&["spec/system@/"]), &["spec"]).unwrap_err();
    assert_eq!(refused[0].code, "not_found");
    assert!(
        refused[0].hint.as_ref().unwrap().contains("`spec/system`"),
        "{refused:?}"
    );
}

#[test]
fn a_tree_that_is_too_large_is_refused() {
    let files = |count: usize| (0..count).map(|n| format!("spec/n{n}_spec.rb")).collect::<Vec<_>>();
    let selection = select(&Listed::new(&files(MAX_FILES)), &["spec"]).unwrap();
    assert_eq!(selection.selectors.len(), MAX_FILES);
    let refused = select(&Listed::new(&files(MAX_FILES + 1)), &["spec"]).unwrap_err();
    assert_eq!(refused[0].code, "too_many_files");
}

#[test]
fn several_directories_that_are_too_large_together_are_refused() {
    let half = |dir: &str| {
        (0..=MAX_FILES / 2)
            .map(|n| format!("spec/{dir}/n{n}_spec.rb"))
            .collect::<Vec<_>>()
    };
    let refused = select(&Listed::new(&[half("a"), half("b")].concat()), &["spec/a", "spec/b"]).unwrap_err();
    assert_eq!(refused[0].code, "too_many_files");
}

#[test]
fn selectors_of_one_file_merge_in_the_order_of_its_first_mention() {
    let (user, widget) = ("spec/models/user_spec.rb", "spec/models/widget_spec.rb");
    let table: [(&[&str], &[&str]); 8] = [
        (&["W", "U", "W"], &["W", "U"]),
        (&["W:9", "U", "W:3:9"], &["W:3:9", "U"]),
        (&["W[1:3]", "W[1:1,1:3]"], &["W[1:1,1:3]"]),
        (&["W:3", "U", "W"], &["W", "U"]),
        (&["W", "W[1:1]"], &["W"]),
        (&["W:3", "U", "W[1:1]", "W:1"], &["W:1:3", "W[1:1]", "U"]),
        (&["W[1:2]", "W:3", "./W"], &["W"]),
        (&["U:2", "spec/models"], &["U", "spec/models/gadget_spec.rb", "W"]),
    ];
    let written = |text: &&str| text.replace('W', widget).replace('U', user);
    for (named, expected) in table {
        let named: Vec<String> = named.iter().map(written).collect();
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        let expected: Vec<String> = expected.iter().map(|text| format!("./{}", written(text))).collect();
        assert_eq!(arguments(&named), expected, "{named:?}");
    }
}

#[test]
fn what_rspec_would_take_for_a_directory_is_refused() {
    let tree = Listed::new(&["spec/a_spec.rb", "spec/a_spec.rb:2:3/b_spec.rb"]);
    let refused = select(&tree, &["spec/a_spec.rb:2", "spec/a_spec.rb:3"]).unwrap_err();
    assert_eq!(refused[0].code, "ambiguous");
    let literal = select(&tree, &["spec/a_spec.rb:2:3"]).unwrap();
    assert_eq!(literal.selectors[0].to_argument(), "./spec/a_spec.rb:2:3/b_spec.rb");
}

#[test]
fn where_case_is_ignored_a_file_is_named_as_on_disk() {
    let tree = app().ignoring_case();
    let selection = select(&tree, &["SPEC/Models/WIDGET_spec.rb:1", "spec/models/widget_spec.rb:2"]).unwrap();
    let filter = Filter::Lines(vec![1, 2]);
    assert_eq!(
        selection.selectors,
        [Selector {
            path: "spec/models/widget_spec.rb".into(),
            filter
        }]
    );
    let refused = select(&tree, &["spec/case_spec.rb"]).unwrap_err();
    assert_eq!(refused[0].code, "wrong_kind", "on disk it is Case_Spec.rb");
}

#[test]
fn the_configuration_adds_directories_for_specs() {
    let tree = Listed::new(&[
        "components/a/b/spec/deep_spec.rb",
        "components/x_spec.rb",
        "checks/c_spec.rb",
    ]);
    let rules = Rules::new(&["components/**/spec".into(), "checks".into()]);
    let files = |named: &str| {
        let selection = select_in(&tree, &rules, &[named]).map_err(|refused| refused[0].code)?;
        Ok(selection.selectors.iter().map(Selector::to_string).collect::<Vec<_>>())
    };
    assert_eq!(files("components").unwrap(), ["components/a/b/spec/deep_spec.rb"]);
    assert_eq!(files("checks/c_spec.rb").unwrap(), ["checks/c_spec.rb"]);
    assert_eq!(files("components/x_spec.rb"), Err("wrong_kind"));
}

#[test]
fn globs_match_name_by_name() {
    let table = [
        ("spec", Place::Within),
        ("spec/deep/er", Place::Within),
        ("", Place::Above),
        ("packs", Place::Above),
        ("packs/a", Place::Above),
        ("packs/a/spec/b", Place::Within),
        ("packs/.git/spec", Place::Outside),
        ("packs/a/b/spec", Place::Outside),
        ("specs", Place::Outside),
        ("Spec", Place::Outside),
        ("app/spec", Place::Outside),
    ];
    for (path, place) in table {
        assert_eq!(Rules::default().place(path), place, "{path}");
    }
}

#[test]
fn a_star_stands_for_any_part_of_a_name() {
    let table = [
        ("*", "a", true),
        ("*", ".a", false),
        (".*", ".a", true),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-b-b-d", false),
        ("a?c", "aüc", true),
        ("a?c", "ac", false),
        ("**", "ab", true),
        ("[a]", "[a]", true),
        ("[a]", "a", false),
        ("", "", true),
        ("", "a", false),
    ];
    for (glob, name, matched) in table {
        assert_eq!(matches(glob, name), matched, "{glob} {name}");
    }
}

#[test]
fn a_directory_with_a_suffix_is_answered_with_the_directory() {
    let hint = refusal("spec/models:12").hint.unwrap();
    assert!(hint.starts_with("did you mean `spec/models`"), "{hint}");
}

#[test]
fn only_the_first_refusals_of_a_call_get_suggestions() {
    let refused = refusals(&["spec/models/wdget_spec.rb"; MAX_SELECTORS]);
    let suggested = refused
        .iter()
        .filter(|refusal| refusal.hint.as_ref().unwrap().starts_with("did you mean"));
    assert_eq!(suggested.count(), 10);
}

#[test]
fn everything_is_all_roots_of_each_framework_by_itself() {
    let tree = Listed::new(&[
        "spec/models/a_spec.rb",
        "spec/rails_helper.rb",
        "test/b_test.rb",
        "packs/shop/spec/c_spec.rb",
        "engines/pay/test/d_test.rb",
        // Of both: neither may be named as a directory.
        "gems/money/spec/e_spec.rb",
        "gems/money/spec/f_test.rb",
        "gems/empty/spec/support.rb",
        "lib/g_spec.rb",
    ]);
    let all = everything_in(&tree, &Rules::default()).unwrap();
    let rspec = ["gems/money/spec/e_spec.rb", "packs/shop/spec", "spec"];
    let minitest = ["engines/pay/test", "gems/money/spec/f_test.rb", "test"];
    assert_eq!(all, [rspec, minitest]);
    for part in &all {
        assert!(select_in(&tree, &Rules::default(), part).is_ok(), "{part:?}");
    }
    let one = everything_in(&Listed::new(&["test/b_test.rb"]), &Rules::default()).unwrap();
    assert_eq!(one, [["test"]]);
    let none = everything_in(&Listed::new(&["lib/g_spec.rb"]), &Rules::default()).unwrap();
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn what_is_of_both_frameworks_is_named_in_the_runs_that_it_takes() {
    let tree = app_of_two_frameworks();
    let cases: [(&[&str], &[&[&str]]); 6] = [
        (&["spec", "test"], &[&["spec"], &["test"]]),
        (
            &["test/models", "spec/models/widget_spec.rb:3"],
            &[&["spec/models/widget_spec.rb:3"], &["test/models"]],
        ),
        (&["test/models"], &[&["test/models"]]),
        (&["./test//models/"], &[&["./test//models/"]]),
        (
            &["."],
            &[&["spec"], &["engines/billing/test", "packs/parcels/test", "test"]],
        ),
        (&["packs", "spec"], &[&["spec"], &["packs"]]),
    ];
    for (named, runs) in cases {
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        assert_eq!(apart_in(&tree, &Rules::default(), &named).unwrap(), runs, "{named:?}");
    }
    let mixed = Listed::new(&["spec/both/a_spec.rb", "spec/both/b_test.rb", "spec/c_spec.rb"]);
    let runs = apart_in(&mixed, &Rules::default(), &["spec/both".to_owned()]).unwrap();
    assert_eq!(runs, [["spec/both/a_spec.rb"], ["spec/both/b_test.rb"]]);
    for wrong in ["@failed", "README.md", "spec/nothing_spec.rb"] {
        let named = ["spec".to_owned(), wrong.to_owned()];
        assert_eq!(apart_in(&tree, &Rules::default(), &named), None, "{wrong}");
    }
}

#[test]
fn a_class_without_its_file_is_refused_with_the_file_or_another_way_to_name_it() {
    let hint = |named: &str| {
        let refused = select_in(&app_of_two_frameworks(), &Rules::default(), &[named]).unwrap_err();
        assert_eq!(refused[0].code, "not_found", "{named}: {refused:?}");
        refused[0].hint.clone().unwrap()
    };
    for named in ["WidgetTest#test_it", "WidgetTest", "Shop::WidgetTest#test_it"] {
        let file = format!("`test/models/widget_test.rb#{named}`");
        assert!(hint(named).contains(&file), "{named}: {}", hint(named));
    }
    // As RSpec describes a method.
    for named in ["Nowhere::ElseTest#test_it", "Widget#name"] {
        let hint = hint(named);
        assert!(
            hint.contains("FILE#Class#test_name") && hint.contains("`example`"),
            "{named}: {hint}"
        );
    }
}
