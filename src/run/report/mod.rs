//! What the caller sees of a run: failures only by default, each with the selector that reruns it, in as few bytes
//! as say it, and never more than the budget.

mod budget;
mod build;
mod facts;
mod failure;
mod profile;
mod shape;

pub use facts::{Facts, Mode, View};
pub use profile::{FactoryProfile, GcProfile, Profile, SlowExample, SqlProfile};
pub use shape::{
    CrashedFork, Cut, ErrorReport, ExampleReport, FailureReport, Leftover, OutsideReport, PendingReport, Report,
    SkippedPath, Stream, Summary, ThreadReport, Timing,
};
