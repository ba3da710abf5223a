//! Making a report fit. It is filled by worth: first the little that every answer has, then what failed, with messages
//! and first frames, then diffs, lists and what was printed. Whatever has no room is counted. Pure.
//!
//! All sizes are bytes of JSON, in which a control character takes six.

use super::{
    CrashedFork, Cut, ErrorReport, ExampleReport, FailureReport, Leftover, OutsideReport, PendingReport, Profile,
    Report, SlowExample, Stream, ThreadReport,
};
use crate::run::blocked::Refused;
use crate::run::coverage::{CoverageReport, FileCoverage};
use crate::run::output::middle_left_out;

/// What grows, each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Bytes of each sentence about the whole: reason, hint, trigger, command, warnings.
    Heads,
    /// Failures, and how many more failed alike; errors outside, unfinished examples, threads.
    Entries,
    /// Bytes of each message, description and name of an entry.
    Texts,
    /// Frames of each backtrace.
    Frames,
    /// Parts of an aggregated failure, causes of each failure.
    Inner,
    /// Bytes of each diff.
    Diffs,
    /// Pending, passing and not-run examples, skipped paths, leftovers.
    Lists,
    /// Entries of each list of the profile.
    Profile,
    /// Bytes of each stream.
    Output,
}

const PARTS: usize = 9;
const ALL: usize = usize::MAX;

/// In this order each part grows as far as it fits, up to this much.
const WORTH: [(Part, usize); 24] = [
    (Part::Heads, 200),
    (Part::Entries, 1),
    (Part::Texts, 200),
    (Part::Frames, 1),
    (Part::Heads, 1000),
    (Part::Entries, 10),
    (Part::Texts, 800),
    (Part::Frames, 3),
    (Part::Inner, 5),
    (Part::Entries, 30),
    (Part::Texts, 2000),
    (Part::Diffs, 2000),
    (Part::Lists, 10),
    (Part::Profile, 5),
    (Part::Output, 4000),
    (Part::Entries, ALL),
    (Part::Inner, ALL),
    (Part::Texts, ALL),
    (Part::Frames, ALL),
    (Part::Diffs, ALL),
    (Part::Lists, ALL),
    (Part::Profile, ALL),
    (Part::Output, ALL),
    (Part::Heads, ALL),
];

/// How much there is of each part.
type Levels = [usize; PARTS];

/// Bytes of one path, command line or frame, which say little at length.
const LINE: usize = 400;

/// `report` in at most `budget` bytes; of its own if it fits.
pub(super) fn fit(report: Report, budget: usize) -> Report {
    if size(&report) <= budget {
        return report;
    }
    let mut filling = Filling {
        fitting: shaped(&report, [0; PARTS]),
        whole: report,
        budget,
        levels: [0; PARTS],
    };
    for (part, most) in WORTH {
        filling.grow(part, most.min(budget));
        if filling.is_whole() {
            break;
        }
    }
    filling.fitting
}

/// One failure alone: all that grows of it is halved until it fits.
pub(super) fn fit_failure(whole: FailureReport, budget: usize) -> FailureReport {
    let size = |failure: &FailureReport| serde_json::to_string(failure).map_or(0, |text| text.len());
    if size(&whole) <= budget {
        return whole;
    }
    let mut level = budget;
    loop {
        let mut shaper = Shaper {
            levels: [level; PARTS],
            cut: Cut::default(),
        };
        let shaped = shaper.failure(&whole);
        if level == 0 || size(&shaped) <= budget {
            return shaped;
        }
        level /= 2;
    }
}

fn size(report: &Report) -> usize {
    report.to_json().len()
}

struct Filling {
    whole: Report,
    budget: usize,
    levels: Levels,
    /// As of `levels`.
    fitting: Report,
}

impl Filling {
    fn is_whole(&self) -> bool {
        self.fitting.cut == self.whole.cut
    }

    /// Doubles while it fits; then halves what is between.
    fn grow(&mut self, part: Part, most: usize) {
        let mut least = self.levels[part as usize];
        while least < most {
            let next = (least * 2).clamp(1, most);
            if !self.take(part, next) {
                self.refine(part, least, next);
                return;
            }
            least = next;
        }
    }

    /// `most` does not fit.
    fn refine(&mut self, part: Part, mut least: usize, mut most: usize) {
        while most - least > 1 + least / 32 {
            let middle = least.midpoint(most);
            if self.take(part, middle) {
                least = middle;
            } else {
                most = middle;
            }
        }
    }

    fn take(&mut self, part: Part, level: usize) -> bool {
        let mut levels = self.levels;
        levels[part as usize] = level;
        let shaped = shaped(&self.whole, levels);
        let fits = size(&shaped) <= self.budget;
        if fits {
            (self.levels, self.fitting) = (levels, shaped);
        }
        fits
    }
}

/// What there is of `whole` at these levels, with a count of the rest.
fn shaped(whole: &Report, levels: Levels) -> Report {
    let mut shaper = Shaper {
        levels,
        cut: whole.cut.clone().unwrap_or_default(),
    };
    let mut report = shaper.report(whole);
    report.cut = shaper.cut.unless_empty();
    report
}

struct Shaper {
    levels: Levels,
    cut: Cut,
}

impl Shaper {
    fn at(&self, part: Part) -> usize {
        self.levels[part as usize]
    }

    fn report(&mut self, whole: &Report) -> Report {
        Report {
            run_id: whole.run_id.clone(),
            outcome: whole.outcome,
            mode: whole.mode,
            mode_reason: self.head(whole.mode_reason.as_ref()),
            summary: whole.summary.clone(),
            reason: self.head(whole.reason.as_ref()),
            hint: self.head(whole.hint.as_ref()),
            error: whole.error.as_ref().map(|error| self.error(error)),
            failures: self.failures(&whole.failures),
            errors_outside: self.errors_outside(&whole.errors_outside),
            unfinished: self.entries(&whole.unfinished, Shaper::example),
            threads: self.entries(&whole.threads, Shaper::thread),
            not_run: self.list(&whole.not_run, |cut| &mut cut.not_run, |_, id| id.clone()),
            pending: self.list(&whole.pending, |cut| &mut cut.pending, Shaper::pending),
            passing: self.list(&whole.passing, |cut| &mut cut.passing, Shaper::example),
            coverage: whole.coverage.as_ref().map(|coverage| self.coverage(coverage)),
            stdout: whole.stdout.as_ref().map(|stream| self.stream(stream)),
            stderr: whole.stderr.as_ref().map(|stream| self.stream(stream)),
            crashed_fork: whole.crashed_fork.as_ref().map(|crash| self.crash(crash)),
            warnings: self.warnings(&whole.warnings),
            profile: whole.profile.as_ref().map(|profile| self.profile(profile)),
            leftovers: self.list(&whole.leftovers, |cut| &mut cut.other, Shaper::leftover),
            skipped: self.list(&whole.skipped, |cut| &mut cut.other, |_, skipped| skipped.clone()),
            cut: None,
            trigger: self.head(whole.trigger.as_ref()),
            seed: whole.seed,
            stood_for: whole.stood_for.clone(),
            also_failed: whole.also_failed.clone(),
            also_last: whole.also_last.clone(),
            command: self.text(&whole.command, self.at(Part::Heads)),
            refused: self.list(&whole.refused, |cut| &mut cut.other, Shaper::refused),
            held_back: self.list(
                &whole.held_back,
                |cut| &mut cut.other,
                |shaper, name| shaper.text(name, LINE),
            ),
            sandbox: whole.sandbox.as_ref().map(|line| self.text(line, self.at(Part::Heads))),
            queued_behind: whole.queued_behind,
            timing: whole.timing,
        }
    }

    fn failures(&mut self, whole: &[FailureReport]) -> Vec<FailureReport> {
        let shown = whole.len().min(self.at(Part::Entries));
        let (told, untold) = whole.split_at(shown);
        self.cut.failures += untold.iter().map(|failure| 1 + failure.also.len()).sum::<usize>();
        told.iter().map(|failure| self.failure(failure)).collect()
    }

    fn failure(&mut self, whole: &FailureReport) -> FailureReport {
        let texts = self.at(Part::Texts);
        let also = self.take(&whole.also, self.at(Part::Entries), |cut| &mut cut.failures);
        FailureReport {
            number: whole.number,
            id: whole.id.clone(),
            description: self.text(&whole.description, texts.min(LINE)),
            file: whole.file.clone(),
            line: whole.line,
            rerun: whole.rerun.clone(),
            also: also.iter().map(|example| self.example(example)).collect(),
            class: self.text(&whole.class, texts.clamp(60, LINE)),
            message: self.text(&whole.message, texts),
            diff: whole.diff.as_ref().map(|diff| self.text(diff, self.at(Part::Diffs))),
            backtrace: self.backtrace(&whole.backtrace),
            causes: self.inner(&whole.causes),
            parts: self.inner(&whole.parts),
            seconds: whole.seconds,
            pending_fixed: whole.pending_fixed,
        }
    }

    /// They stand behind or within what has been said: half of the room each.
    fn inner(&mut self, whole: &[ErrorReport]) -> Vec<ErrorReport> {
        let shown = self.take(whole, self.at(Part::Inner), |cut| &mut cut.other);
        let texts = self.at(Part::Texts) / 2;
        shown.iter().map(|error| self.error_within(error, texts)).collect()
    }

    fn errors_outside(&mut self, whole: &[OutsideReport]) -> Vec<OutsideReport> {
        let shown = self.take(whole, self.at(Part::Entries), |cut| &mut cut.errors_outside);
        let texts = self.at(Part::Texts);
        let shape = |outside: &OutsideReport| OutsideReport {
            context: self.text(&outside.context, texts.min(LINE)),
            error: self.error(&outside.error),
        };
        shown.iter().map(shape).collect()
    }

    fn error(&mut self, whole: &ErrorReport) -> ErrorReport {
        self.error_within(whole, self.at(Part::Texts))
    }

    fn error_within(&mut self, whole: &ErrorReport, texts: usize) -> ErrorReport {
        ErrorReport {
            class: self.text(&whole.class, texts.clamp(60, LINE)),
            message: self.text(&whole.message, texts),
            file: whole.file.as_ref().map(|file| self.text(file, texts.clamp(60, LINE))),
            line: whole.line,
            backtrace: self.backtrace(&whole.backtrace),
        }
    }

    fn backtrace(&mut self, whole: &[String]) -> Vec<String> {
        let shown = whole.len().min(self.at(Part::Frames));
        let (told, untold) = whole.split_at(shown);
        self.cut.bytes += untold.iter().map(String::len).sum::<usize>();
        told.iter().map(|frame| self.text(frame, LINE)).collect()
    }

    fn coverage(&mut self, whole: &CoverageReport) -> CoverageReport {
        let files = self.list(&whole.files, |cut| &mut cut.other, Shaper::covered);
        CoverageReport {
            files,
            unmeasured: self.list(&whole.unmeasured, |cut| &mut cut.other, |_, file| file.clone()),
            ..whole.clone()
        }
    }

    fn covered(&mut self, whole: &FileCoverage) -> FileCoverage {
        FileCoverage {
            executed: self.ranges(&whole.executed),
            not_executed: self.ranges(&whole.not_executed),
            ..whole.clone()
        }
    }

    /// The first of them; the others are counted.
    fn ranges(&mut self, whole: &str) -> String {
        let room = self.at(Part::Texts);
        let ends = whole.match_indices(',').map(|(at, _)| at).chain([whole.len()]);
        let end = ends.take_while(|at| *at <= room).last().unwrap_or(0);
        let untold = whole[end..].split(',').filter(|range| !range.is_empty());
        self.cut.other += untold.count();
        whole[..end].to_owned()
    }

    fn thread(&mut self, whole: &ThreadReport) -> ThreadReport {
        ThreadReport {
            name: self.text(&whole.name, self.at(Part::Texts).min(LINE)),
            status: self.text(&whole.status, self.at(Part::Texts).min(LINE)),
            backtrace: self.backtrace(&whole.backtrace),
        }
    }

    fn example(&mut self, whole: &ExampleReport) -> ExampleReport {
        ExampleReport {
            id: whole.id.clone(),
            description: self.text(&whole.description, self.at(Part::Texts).min(LINE)),
            seconds: whole.seconds,
        }
    }

    fn profile(&mut self, whole: &Profile) -> Profile {
        let (mut shown, left_out) = whole.first(self.at(Part::Profile));
        self.cut.other += left_out;
        for SlowExample { description, .. } in &mut shown.slowest {
            *description = self.text(description, LINE);
        }
        shown
    }

    fn pending(&mut self, whole: &PendingReport) -> PendingReport {
        PendingReport {
            id: whole.id.clone(),
            description: self.text(&whole.description, LINE),
            reason: self.text(&whole.reason, LINE),
        }
    }

    fn refused(&mut self, whole: &Refused) -> Refused {
        Refused {
            what: self.text(&whole.what, LINE),
            ..whole.clone()
        }
    }

    fn leftover(&mut self, whole: &Leftover) -> Leftover {
        Leftover {
            pid: whole.pid,
            command: self.text(&whole.command, LINE),
        }
    }

    fn crash(&mut self, whole: &CrashedFork) -> CrashedFork {
        CrashedFork {
            signal: whole.signal.clone(),
            stderr: self.text(&whole.stderr, self.at(Part::Output)),
        }
    }

    /// The beginning tells of a crash, the end of what came before it went wrong.
    fn stream(&mut self, whole: &Stream) -> Stream {
        let limit = self.at(Part::Output);
        if fits(&whole.text, limit) {
            return whole.clone();
        }
        let head = head_within(&whole.text, limit / 2);
        let tail = tail_within(&whole.text[head..], limit - limit / 2);
        let (text, dropped) = middle_left_out(&whole.text, head, whole.text.len() - tail, whole.dropped);
        self.cut.bytes += usize::try_from(dropped - whole.dropped).unwrap_or(usize::MAX);
        Stream {
            text,
            bytes: whole.bytes,
            dropped,
        }
    }

    fn warnings(&mut self, whole: &[String]) -> Vec<String> {
        whole
            .iter()
            .map(|warning| self.text(warning, self.at(Part::Heads)))
            .collect()
    }

    fn head(&mut self, whole: Option<&String>) -> Option<String> {
        whole.map(|text| self.text(text, self.at(Part::Heads)))
    }

    fn entries<T>(&mut self, whole: &[T], shape: fn(&mut Shaper, &T) -> T) -> Vec<T> {
        let shown = self.take(whole, self.at(Part::Entries), |cut| &mut cut.other);
        shown.iter().map(|entry| shape(self, entry)).collect()
    }

    fn list<T>(&mut self, whole: &[T], count: fn(&mut Cut) -> &mut usize, shape: fn(&mut Shaper, &T) -> T) -> Vec<T> {
        let shown = self.take(whole, self.at(Part::Lists), count);
        shown.iter().map(|entry| shape(self, entry)).collect()
    }

    /// The first of a list; the rest is counted.
    fn take<'a, T>(&mut self, whole: &'a [T], limit: usize, count: fn(&mut Cut) -> &mut usize) -> &'a [T] {
        let shown = whole.len().min(limit);
        *count(&mut self.cut) += whole.len() - shown;
        &whole[..shown]
    }

    /// The beginning, and how much is missing.
    fn text(&mut self, whole: &str, limit: usize) -> String {
        if fits(whole, limit) {
            return whole.to_owned();
        }
        let kept = head_within(whole, limit.saturating_sub(MARK));
        let dropped = whole.len() - kept;
        self.cut.bytes += dropped;
        format!("{}… {dropped} bytes left out", &whole[..kept])
    }
}

/// Bytes of what stands in the place of what was cut.
const MARK: usize = 30;

fn fits(text: &str, limit: usize) -> bool {
    // What is a mark's length costs no more than the mark.
    head_within(text, limit.max(MARK)) == text.len()
}

/// Where the longest beginning ends that takes `limit` bytes.
fn head_within(text: &str, limit: usize) -> usize {
    let mut room = limit;
    let over = text.char_indices().find(|(_, character)| {
        let cost = cost(*character);
        let over = cost > room;
        room = room.saturating_sub(cost);
        over
    });
    over.map_or(text.len(), |(at, _)| at)
}

/// How long the longest end is that takes `limit` bytes.
fn tail_within(text: &str, limit: usize) -> usize {
    let mut room = limit;
    let taken = text.chars().rev().take_while(|character| {
        let cost = cost(*character);
        let takes = cost <= room;
        room = room.saturating_sub(cost);
        takes
    });
    taken.map(char::len_utf8).sum()
}

/// Bytes of a character within a string of JSON.
fn cost(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}
