//! From data to text for people. Pure: whether there is a terminal, how wide it is and what time it is are arguments.

pub mod checkup;
pub mod concerned;
pub mod coverage;
pub mod data;
pub mod diff;
pub mod error;
pub mod flaky;
pub mod junit;
pub mod log;
pub mod profile;
pub mod progress;
pub mod report;
pub mod source;
pub mod style;
pub mod words;
