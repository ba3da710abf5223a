//! From data to text for people. Pure: whether there is a terminal, how wide it is and what time it is are arguments.

pub mod diff;
pub mod error;
pub mod log;
pub mod style;
