//! Where the time of a run went, for people. Pure.

use super::style::{Style, harmless};
use super::words::counted;
use crate::run::report::{FactoryProfile, GcProfile, Profile, SlowExample, SqlProfile};
use crate::worker::protocol::Expense;

pub fn profile(profile: &Profile, style: Style) -> String {
    let parts = [
        slowest(&profile.slowest, style),
        profile.sql.as_ref().map_or(String::new(), |sql| queries(sql, style)),
        profile
            .factories
            .as_ref()
            .map_or(String::new(), |made| factories(made, style)),
        profile.gc.map_or(String::new(), |gc| collection(gc, style)),
    ];
    parts.concat()
}

fn slowest(examples: &[SlowExample], style: Style) -> String {
    let lines = examples.iter().map(|example| {
        let costs = [("queries", example.sql), ("factories", example.factories)];
        let costs = costs.into_iter().filter_map(|(what, expense)| cost(what, expense?));
        let costs: Vec<String> = costs.collect();
        format!(
            "{}  {}  {}  {}",
            seconds(example.seconds),
            harmless(&example.description),
            style.dim(&harmless(&example.id)),
            costs.join(", ")
        )
    });
    part("slowest examples", lines, style)
}

fn cost(what: &str, Expense { count, seconds }: Expense) -> Option<String> {
    (count > 0).then(|| format!("{what}: {count} in {seconds:.3} s"))
}

fn queries(sql: &SqlProfile, style: Style) -> String {
    let failed = if_any(sql.failed, |failed| format!(", {failed} of them failed"));
    let cached = if_any(sql.cached, |cached| format!("; {cached} more from the cache"));
    let statements = counted(sql.statements, "statement", "statements");
    let head = format!(
        "queries: {} in {:.3} s{failed}, {statements}{cached}",
        sql.count, sql.seconds
    );
    let told = sql.queries.iter();
    let lines = told.map(|query| {
        format!(
            "{}  {:>6}×  {}",
            seconds(query.seconds),
            query.count,
            harmless(&query.sql)
        )
    });
    part(&head, lines, style)
}

fn factories(made: &FactoryProfile, style: Style) -> String {
    let objects = counted(made.count, "object", "objects");
    let names = counted(made.names, "factory", "factories");
    let raised = if_any(made.raised, |raised| format!(", {raised} more raised"));
    let head = format!("factories: {objects} in {:.3} s{raised}, {names}", made.seconds);
    let lines = made.by_name.iter().map(|factory| {
        let strategies = factory.strategies.iter();
        let raised = Some(format!("raised {}", factory.raised)).filter(|_| factory.raised > 0);
        let strategies = strategies.map(|(name, count)| format!("{name} {count}")).chain(raised);
        let strategies: Vec<String> = strategies.collect();
        format!(
            "{}  {}  ({}; {:.3} s with what they need)",
            seconds(factory.own),
            harmless(&factory.name),
            harmless(&strategies.join(", ")),
            factory.seconds
        )
    });
    part(&head, lines, style)
}

fn if_any(count: u64, text: impl Fn(u64) -> String) -> String {
    if count == 0 { String::new() } else { text(count) }
}

fn collection(gc: GcProfile, style: Style) -> String {
    let runs = counted(gc.runs, "run", "runs");
    let objects = counted(gc.allocated, "object", "objects");
    let head = format!(
        "garbage collection: {runs} ({} major) in {:.3} s, {objects} allocated",
        gc.major, gc.seconds
    );
    part(&head, std::iter::empty(), style)
}

fn part(head: &str, lines: impl Iterator<Item = String>, style: Style) -> String {
    let lines = lines.map(|line| format!("   {}\n", line.trim_end()));
    format!("\n{}\n{}", style.bold(head), lines.collect::<String>())
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:>8.3} s")
}
