//! A run that is over as JUnit's XML, which CI servers read.

use std::fmt::Write;

use crate::run::outcome::Outcome;
use crate::run::report::{FailureReport, Report};

/// Of one run, or of several that belong together, with the selectors that were not run any more.
pub fn junit(reports: &[Report], left_out: &[String]) -> String {
    let suites: String = reports.iter().map(suite).chain(not_run(left_out)).collect();
    let suites = match reports {
        [_] if left_out.is_empty() => suites,
        _ => format!("<testsuites>\n{suites}</testsuites>\n"),
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{suites}")
}

fn not_run(left_out: &[String]) -> Option<String> {
    let cases = left_out.iter().map(|selector| {
        let name = escaped(selector);
        format!("  <testcase classname=\"coatepec\" name=\"{name}\"><skipped message=\"not run\"/></testcase>\n")
    });
    let many = left_out.len();
    let head =
        format!("<testsuite name=\"coatepec\" tests=\"{many}\" failures=\"0\" errors=\"0\" skipped=\"{many}\">\n");
    (many > 0).then(|| head + &cases.collect::<String>() + "</testsuite>\n")
}

/// The numbers are those of the whole run. Examples that passed are listed as far as the report lists them.
fn suite(report: &Report) -> String {
    let summary = &report.summary;
    let broken = u32::from(summary.failures == 0 && !matches!(report.outcome, Outcome::Passed | Outcome::AllPending));
    let errors = summary.errors_outside.max(broken);
    let mut xml = String::new();
    let _ = writeln!(
        xml,
        "<testsuite name=\"coatepec\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\" time=\"{:.6}\">",
        summary.examples, summary.failures, summary.pending, summary.seconds
    );
    let seed = report.seed.map(|seed| ("seed", seed.to_string()));
    let properties = [
        ("outcome", super::report::words(report.outcome)),
        ("command", report.command.clone()),
    ];
    xml += "  <properties>\n";
    for (name, value) in properties.into_iter().chain(seed) {
        let _ = writeln!(xml, "    <property name=\"{name}\" value=\"{}\"/>", escaped(&value));
    }
    xml += "  </properties>\n";
    for failure in &report.failures {
        xml += &failed(failure);
    }
    for outside in &report.errors_outside {
        let (context, error) = (escaped(outside.context.trim()), &outside.error);
        let _ = writeln!(
            xml,
            "  <testcase classname=\"outside of examples\" name=\"{context}\"><error type=\"{}\" message=\"{}\"/></testcase>",
            escaped(&error.class),
            escaped(&error.message)
        );
    }
    for pending in &report.pending {
        let reason = escaped(&pending.reason);
        xml += &case(
            &pending.id,
            &pending.description,
            None,
            &format!("<skipped message=\"{reason}\"/>"),
        );
    }
    for example in &report.passing {
        xml += &case(&example.id, &example.description, example.seconds, "");
    }
    if broken > 0 && summary.errors_outside == 0 {
        let reason = escaped(report.reason.as_deref().unwrap_or_default());
        let outcome = super::report::words(report.outcome);
        let _ = writeln!(
            xml,
            "  <testcase classname=\"coatepec\" name=\"{outcome}\"><error message=\"{reason}\"/></testcase>"
        );
    }
    xml + "</testsuite>\n"
}

fn failed(failure: &FailureReport) -> String {
    let text = [failure.message.as_str(), failure.diff.as_deref().unwrap_or_default()].join("\n");
    let text = format!("{text}\n{}", failure.backtrace.join("\n"));
    let first = failure.message.trim().lines().next().unwrap_or_default();
    let inner = format!(
        "<failure type=\"{}\" message=\"{}\">{}</failure>",
        escaped(&failure.class),
        escaped(first),
        escaped(text.trim())
    );
    let also = failure.also.iter().map(|also| {
        let same = format!(
            "<failure type=\"{}\" message=\"{}\"/>",
            escaped(&failure.class),
            escaped(first)
        );
        case(&also.id, &also.description, also.seconds, &same)
    });
    let own = case(&failure.id, &failure.description, failure.seconds, &inner);
    std::iter::once(own).chain(also).collect()
}

fn case(id: &str, description: &str, seconds: Option<f64>, inner: &str) -> String {
    let file = id.split(['[', '#']).next().unwrap_or(id);
    let class = file.trim_end_matches(".rb").replace('/', ".");
    let time = seconds.map_or(String::new(), |seconds| format!(" time=\"{seconds:.6}\""));
    format!(
        "  <testcase classname=\"{}\" name=\"{}\" file=\"{}\"{time}>{inner}</testcase>\n",
        escaped(&class),
        escaped(description),
        escaped(file)
    )
}

/// XML 1.0 has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
