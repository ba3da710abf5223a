//! What people see: texts made of data.

use std::collections::HashMap;
use std::ffi::OsString;

use coatepec::cli::render::style::{Choice, Style, harmless};
use coatepec::cli::render::{diff, error};
use coatepec::config::Config;
use coatepec::error::{Error, Kind};
use serde_json::json;

#[test]
fn colours_follow_the_choice_the_environment_and_the_terminal_in_this_order() {
    let chosen = |choice, terminal, variables: &[(&str, &str)]| {
        let variables: HashMap<&str, &str> = variables.iter().copied().collect();
        Style::chosen(choice, terminal, &|name| variables.get(name).map(OsString::from)) == Style::COLOURED
    };
    assert!(chosen(Choice::Auto, true, &[]));
    assert!(!chosen(Choice::Auto, false, &[]));
    assert!(!chosen(Choice::Auto, true, &[("NO_COLOR", "1")]));
    assert!(
        chosen(Choice::Auto, true, &[("NO_COLOR", "")]),
        "an empty one says nothing"
    );
    assert!(!chosen(Choice::Auto, true, &[("TERM", "dumb")]));
    assert!(chosen(Choice::Auto, false, &[("CLICOLOR_FORCE", "1")]));
    assert!(!chosen(Choice::Auto, false, &[("CLICOLOR_FORCE", "0")]));
    assert!(chosen(Choice::Always, false, &[("NO_COLOR", "1")]));
    assert!(!chosen(Choice::Never, true, &[]));
}

#[test]
fn a_text_of_several_lines_is_coloured_line_by_line() {
    assert_eq!(Style::COLOURED.red("a\n\nb"), "\x1b[31ma\x1b[0m\n\n\x1b[31mb\x1b[0m");
    assert_eq!(Style::PLAIN.red("a"), "a");
}

#[test]
fn what_others_wrote_can_not_command_the_terminal() {
    assert_eq!(
        harmless("a\x1b[2Jb\r\n\tc\u{9b}d"),
        "a\u{fffd}[2Jb\u{fffd}\n\tc\u{fffd}d"
    );
    let shown = error::error(&Error::internal("\x1b]0;x\x07"), Style::PLAIN);
    assert!(!shown.contains('\x1b'), "{shown:?}");
}

#[test]
fn an_error_has_its_code_and_the_next_step() {
    let shown = error::error(&Error::new(Kind::Busy, "too many calls").hint("wait"), Style::PLAIN);
    assert_eq!(shown, "error: too many calls [busy]\nhint: wait\n");
}

#[test]
fn an_unknown_key_is_shown_in_its_line_with_the_nearest_right_one() {
    let wrong = Config::parse("fork: auto\nspec_rots: [a]\n").unwrap_err();
    assert_eq!(
        error::error(&wrong, Style::PLAIN),
        "error: `.coatepec.yml` has an unknown key `spec_rots` in line 2 [invalid_config]\n  \
         .coatepec.yml:2 │ spec_rots: [a]\n                  │ ^^^^^^^^^\n\
         hint: did you mean `spec_roots`?\n"
    );
}

#[test]
fn a_value_out_of_range_is_shown_in_its_line() {
    let wrong = Config::parse("fork: auto\ngrace_seconds: 100\n").unwrap_err();
    let shown = error::error(&wrong, Style::PLAIN);
    assert!(shown.contains("from 0 to 60"), "{shown}");
    let excerpt = "  .coatepec.yml:2 │ grace_seconds: 100\n                  │                ^^^\n";
    assert!(shown.contains(excerpt), "{shown}");
}

#[test]
fn refused_selectors_are_listed_with_their_reasons() {
    let refused =
        json!({"refused": [{"selector": "a_spec.rb", "code": "x", "reason": "is gone", "hint": "b_spec.rb"}]});
    let wrong = Error::new(Kind::InvalidSelector, "1 selector was refused").details(refused);
    let shown = error::error(&wrong, Style::PLAIN);
    assert!(shown.contains("\n  a_spec.rb: is gone (b_spec.rb)\n"), "{shown}");
}

#[test]
fn a_diff_shows_what_changes_with_three_lines_around() {
    let shown = diff::between("f", "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n", Style::PLAIN);
    assert_eq!(shown, "--- f\n+++ f\n@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+E\n f\n");
    assert_eq!(diff::between("f", "a\n", "a\n", Style::PLAIN), "");
    let coloured = diff::coloured("-a\n+b\n c", Style::COLOURED);
    assert_eq!(coloured, "\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n c");
}
