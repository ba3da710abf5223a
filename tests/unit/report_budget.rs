//! A report fits its budget whatever happened, and says what it left out.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use coatepec::config::IncludeStdout;
use coatepec::run::outcome::{Outcome, Verdict};
use coatepec::run::report::{ErrorReport, Facts, Leftover, Report, SkippedPath, View};
use coatepec::worker::protocol::{
    ExampleFinished, ExampleStatus, Failure, Identity, ProfileTotal, QueryUse, RunEvent, SqlTotal, Started, ThreadDump,
};

use crate::report::{facts, paths, wrote};
use crate::told::log;

/// Bytes of a whole report, from the smallest that the configuration allows.
fn budget() -> impl Strategy<Value = usize> {
    prop_oneof![Just(4 * 1024), 4 * 1024..64 * 1024usize]
}

/// Texts of one to three bytes a character, mostly short.
fn text() -> impl Strategy<Value = String> {
    let length = prop_oneof![8 => 0..60usize, 2 => 60..2_000usize, 1 => 2_000..9_000usize];
    (select(vec!["a", "é", "日", "\n", "\u{1}", "\"", "ab cd "]), length)
        .prop_map(|(piece, length)| piece.repeat(length / piece.len()))
}

fn failure(depth: u32) -> BoxedStrategy<Failure> {
    let inner = || {
        if depth == 0 {
            Just(Vec::new()).boxed()
        } else {
            vec(failure(depth - 1), 0..4).boxed()
        }
    };
    let class = select(vec!["RuntimeError", "A::Quite::LongNameOfAnError", ""]);
    // As many parts as the Ruby side tells of an aggregated failure.
    let parts = if depth == 0 {
        vec(failure_without_more(), 0..1)
    } else {
        vec(failure_without_more(), 0..21)
    };
    (class, text(), vec(frame(), 0..15), inner(), parts)
        .prop_map(|(class, message, frames, causes, parts)| Failure {
            class: class.to_owned(),
            message,
            frames,
            location: None,
            causes,
            parts,
        })
        .boxed()
}

fn failure_without_more() -> impl Strategy<Value = Failure> {
    text().prop_map(|message| Failure {
        class: "RuntimeError".to_owned(),
        message,
        ..Failure::default()
    })
}

fn frame() -> impl Strategy<Value = String> {
    (
        select(vec![
            "app/models/cart.rb",
            "/usr/lib/ruby/3.3.0/set.rb",
            "spec/a_spec.rb",
        ]),
        1..9u32,
    )
        .prop_map(|(file, line)| format!("{file}:{line}:in 'Cart#add'"))
}

fn example() -> impl Strategy<Value = RunEvent> {
    let status = select(vec![
        ExampleStatus::Passed,
        ExampleStatus::Failed,
        ExampleStatus::Pending,
    ]);
    (1..200u32, status, text(), text(), failure(1)).prop_map(|(n, status, description, reason, failure)| {
        RunEvent::ExampleFinished(ExampleFinished {
            example: Identity {
                id: format!("./spec/a_spec.rb[1:{n}]"),
                description,
                file: "./spec/a_spec.rb".to_owned(),
                line: n,
            },
            status,
            seconds: Some(f64::from(n) / 7.0),
            assertions: None,
            reason: Some(reason),
            failure: (status == ExampleStatus::Failed).then_some(failure),
            pending_fixed: None,
            cost: None,
        })
    })
}

fn outside() -> impl Strategy<Value = RunEvent> {
    (text(), failure(1)).prop_map(|(context, failure)| RunEvent::OutsideError { context, failure })
}

fn threads() -> impl Strategy<Value = RunEvent> {
    let thread = vec(frame(), 0..60).prop_map(|frames| ThreadDump {
        name: None,
        main: false,
        status: "sleep".to_owned(),
        frames,
    });
    vec(thread, 0..20).prop_map(|threads| RunEvent::Threads { threads })
}

fn started() -> impl Strategy<Value = RunEvent> {
    (0..400u32).prop_map(|selected| {
        RunEvent::Started(Started {
            selected,
            ids: (1..=selected).map(|n| format!("./spec/a_spec.rb[1:{n}]")).collect(),
            ..Started::default()
        })
    })
}

/// As long as the Ruby side lets them be.
fn profile() -> impl Strategy<Value = Option<RunEvent>> {
    let query = (select(vec!["a", "\"", "é"]), 1..150usize).prop_map(|(piece, length)| QueryUse {
        sql: piece.repeat(length),
        count: u64::MAX,
        seconds: 1.0 / 7.0,
    });
    let total = vec(query, 0..11).prop_map(|queries| {
        RunEvent::Profile(ProfileTotal {
            sql: Some(SqlTotal {
                count: u64::MAX,
                seconds: 1.0 / 7.0,
                failed: u64::MAX,
                cached: u64::MAX,
                statements: u64::MAX,
                queries,
            }),
            ..ProfileTotal::default()
        })
    });
    option::of(total)
}

/// Whatever may happen in a run.
#[derive(Debug, Clone)]
struct Happened {
    events: Vec<RunEvent>,
    streams: [String; 2],
    warnings: Vec<String>,
    skipped: Vec<String>,
    leftovers: Vec<String>,
    error: Option<Failure>,
}

fn anything() -> impl Strategy<Value = Happened> {
    let events = (
        started(),
        vec(example(), 0..30),
        vec(outside(), 0..8),
        threads(),
        profile(),
    )
        .prop_map(|(started, examples, outside, threads, profile)| {
            [
                vec![started],
                examples,
                outside,
                vec![threads],
                profile.into_iter().collect(),
            ]
            .concat()
        });
    let names = || vec("[a-z/ ]{1,60}", 0..20);
    let parts = (
        events,
        [text(), text()],
        vec(text(), 0..4),
        names(),
        names(),
        option::of(failure(1)),
    );
    parts.prop_map(|(events, streams, warnings, skipped, leftovers, error)| Happened {
        events,
        streams,
        warnings,
        skipped,
        leftovers,
        error,
    })
}

impl Happened {
    fn facts(&self) -> Facts {
        let reason = || "a symbolic link".to_owned();
        let skipped = self
            .skipped
            .iter()
            .cloned()
            .map(|path| SkippedPath { path, reason: reason() });
        let leftovers = self
            .leftovers
            .iter()
            .cloned()
            .map(|command| Leftover { pid: 4711, command });
        Facts {
            verdict: Verdict {
                outcome: Outcome::Failed,
                reason: Some("because".to_owned()),
            },
            stdout: wrote(&self.streams[0]),
            stderr: wrote(&self.streams[1]),
            warnings: self.warnings.clone(),
            skipped: skipped.collect(),
            leftovers: leftovers.collect(),
            error: self.error.clone(),
            ..facts(log(self.events.iter().cloned()))
        }
    }

    fn report(&self, max_bytes: usize) -> Report {
        let view = View {
            include_passing: true,
            include_stdout: IncludeStdout::Always,
            max_bytes,
        };
        Report::new(&self.facts(), view, &paths())
    }

    /// All there is to say, and what of it fits.
    fn whole_and_cut(&self, budget: usize) -> (Report, Report) {
        (self.report(usize::MAX), self.report(budget))
    }
}

/// How many bytes of `whole` are not in `shown`, which has a note about that at its end, if any are.
fn left_out(whole: &str, shown: &str) -> Result<usize, TestCaseError> {
    if whole == shown {
        return Ok(0);
    }
    let (kept, note) = shown
        .rsplit_once("… ")
        .ok_or_else(|| TestCaseError::fail(format!("no note in {shown:?}")))?;
    prop_assert!(whole.starts_with(kept), "{kept:?} is no start of the text");
    let missing = whole.len() - kept.len();
    prop_assert_eq!(note, format!("{missing} bytes left out"));
    Ok(missing)
}

/// Examples that failed and are named.
fn failed(report: &Report) -> usize {
    report.failures.iter().map(|failure| 1 + failure.also.len()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_fits(happened in anything(), budget in budget()) {
        let json = happened.report(budget).to_json();
        prop_assert!(json.len() <= budget, "{} bytes: {json}", json.len());
    }

    #[test]
    fn entries_that_are_left_out_are_counted(happened in anything(), budget in budget()) {
        let (whole, cut) = happened.whole_and_cut(budget);
        let before = whole.cut.clone().unwrap_or_default();
        let noted = cut.cut.clone().unwrap_or_default();
        let lists = [
            ("failures", failed(&whole) - failed(&cut), noted.failures),
            ("errors_outside", whole.errors_outside.len() - cut.errors_outside.len(), noted.errors_outside),
            ("pending", whole.pending.len() - cut.pending.len() + before.pending, noted.pending),
            ("passing", whole.passing.len() - cut.passing.len(), noted.passing),
            ("not_run", whole.not_run.len() - cut.not_run.len() + before.not_run, noted.not_run),
        ];
        for (list, missing, counted) in lists {
            prop_assert_eq!(missing, counted, "{}", list);
        }
    }

    #[test]
    fn what_matters_most_is_never_left_out(happened in anything(), budget in budget()) {
        let (whole, cut) = happened.whole_and_cut(budget);
        prop_assert_eq!(cut.outcome, whole.outcome);
        prop_assert_eq!(&cut.summary, &whole.summary);
        prop_assert_eq!(cut.reason, whole.reason);
        prop_assert_eq!(cut.error.map(|error| error.class), whole.error.map(|error| error.class));
        prop_assert_eq!(cut.failures.first().map(|first| &first.rerun), whole.failures.first().map(|first| &first.rerun));
        prop_assert_eq!(cut.unfinished.len(), whole.unfinished.len());
    }

    #[test]
    fn streams_keep_both_ends_and_say_how_much_is_missing(happened in anything(), budget in budget()) {
        let (whole, cut) = happened.whole_and_cut(budget);
        for (whole, cut) in [(whole.stdout, cut.stdout), (whole.stderr, cut.stderr)] {
            let (Some(whole), Some(cut)) = (whole, cut) else { continue };
            prop_assert_eq!(cut.bytes, whole.bytes);
            if whole == cut { continue }
            let note = format!("\n[... {} bytes dropped ...]\n", cut.dropped);
            let (head, tail) = cut.text.split_once(&note).expect("a note");
            prop_assert!(whole.text.starts_with(head) && whole.text.ends_with(tail));
            prop_assert_eq!(cut.dropped, (whole.text.len() - head.len() - tail.len()) as u64);
        }
    }

    #[test]
    fn texts_keep_their_start_and_say_how_much_is_missing(happened in anything(), budget in budget()) {
        let (whole, cut) = happened.whole_and_cut(budget);
        let mut missing = 0;
        for (whole, cut) in whole.failures.iter().zip(&cut.failures) {
            missing += left_out(&whole.description, &cut.description)?;
            missing += left_out(&whole.message, &cut.message)?;
            missing += left_out(whole.diff.as_deref().unwrap_or(""), cut.diff.as_deref().unwrap_or(""))?;
            missing += all_left_out(&whole.causes, &cut.causes)? + all_left_out(&whole.parts, &cut.parts)?;
        }
        for (whole, cut) in whole.errors_outside.iter().zip(&cut.errors_outside) {
            missing += left_out(&whole.context, &cut.context)? + left_out(&whole.error.message, &cut.error.message)?;
        }
        for (whole, cut) in whole.passing.iter().zip(&cut.passing) {
            missing += left_out(&whole.description, &cut.description)?;
        }
        for (whole, cut) in whole.pending.iter().zip(&cut.pending) {
            missing += left_out(&whole.description, &cut.description)? + left_out(&whole.reason, &cut.reason)?;
        }
        let noted = cut.cut.clone().unwrap_or_default().bytes;
        prop_assert!(noted >= missing, "{noted} counted, {missing} left out");
    }
}

fn all_left_out(whole: &[ErrorReport], cut: &[ErrorReport]) -> Result<usize, TestCaseError> {
    whole
        .iter()
        .zip(cut)
        .map(|(whole, cut)| left_out(&whole.message, &cut.message))
        .sum()
}

/// More passing examples than are ever listed.
#[test]
fn passing_examples_beyond_the_most_that_are_listed_are_counted() {
    let passes = (0..700).map(|n| crate::told::passes(&format!("./spec/a_spec.rb[1:{n}]")));
    let view = View {
        include_passing: true,
        include_stdout: IncludeStdout::Never,
        max_bytes: 1024 * 1024,
    };
    let report = Report::new(&facts(log(passes)), view, &paths());
    assert_eq!(report.passing.len() + report.cut.unwrap_or_default().passing, 700);
}

/// What the configuration says when nobody says otherwise.
const USUAL: usize = 24 * 1024;

fn cut_to(budget: usize, facts: Facts) -> Report {
    let view = View {
        include_passing: true,
        include_stdout: IncludeStdout::Always,
        max_bytes: budget,
    };
    let report = Report::new(&facts, view, &paths());
    assert!(report.to_json().len() <= budget);
    report
}

fn failing(count: usize, message: &str) -> impl Iterator<Item = RunEvent> {
    (1..=count).map(move |n| {
        let id = format!("./spec/a_spec.rb[1:{n}]");
        RunEvent::ExampleFinished(ExampleFinished {
            failure: Some(crate::told::failure("RuntimeError", &format!("{n} {message}"))),
            ..crate::told::end(&id, ExampleStatus::Failed)
        })
    })
}

/// A crash report of Ruby begins with what matters most, and is 57 KB long.
#[test]
fn of_a_crash_the_first_and_the_last_lines_stay_and_all_room_is_used() {
    let lines = "-- Control frame information ----\n".repeat(2_000);
    let stderr = format!("[BUG] Segmentation fault at 0x0\n{lines}the last line\n");
    let report = cut_to(
        USUAL,
        Facts {
            stderr: wrote(&stderr),
            ..facts(log([]))
        },
    );
    let shown = report.stderr.as_ref().unwrap();
    assert!(shown.text.starts_with("[BUG] Segmentation fault at 0x0\n"));
    assert!(shown.text.ends_with("the last line\n"));
    let used = report.to_json().len();
    assert!(used > USUAL * 15 / 16, "only {used} bytes of {USUAL}");
}

#[test]
fn messages_go_before_what_was_printed() {
    let message = "m".repeat(700);
    let printed = "p".repeat(200_000);
    let report = cut_to(
        USUAL,
        Facts {
            stdout: wrote(&printed),
            stderr: wrote(&printed),
            ..facts(log(failing(20, &message)))
        },
    );
    assert_eq!(report.failures.len(), 20);
    let whole = report
        .failures
        .iter()
        .filter(|failure| failure.message.ends_with(&message));
    assert_eq!(whole.count(), 20);
    let both = [report.stdout, report.stderr].map(|stream| stream.unwrap().text.len());
    assert!(both.iter().all(|shown| *shown > 1000), "{both:?}");
}

#[test]
fn of_many_failures_the_first_are_told_well_and_the_others_counted() {
    let message = "m".repeat(3000);
    let report = cut_to(USUAL, facts(log(failing(500, &message))));
    assert!(report.failures.len() >= 10, "{}", report.failures.len());
    assert!(report.failures.iter().all(|failure| failure.message.len() > 500));
    assert_eq!(report.failures.len() + report.cut.unwrap().failures, 500);
    assert_eq!(report.summary.failures, 500);
}

/// What a stream had dropped before is counted with what goes now.
#[test]
fn what_was_dropped_twice_is_one_number() {
    let mut capture = coatepec::run::output::Capture::new(50_000);
    capture.push(&[b'x'; 1_000_000]);
    let report = cut_to(
        USUAL,
        Facts {
            stdout: capture.finish(),
            ..facts(log([]))
        },
    );
    let shown = report.stdout.unwrap();
    let kept = shown.text.bytes().filter(|byte| *byte == b'x').count();
    assert_eq!((shown.bytes, shown.dropped), (1_000_000, 1_000_000 - kept as u64));
    assert_eq!(shown.text.matches("dropped").count(), 1);
}
