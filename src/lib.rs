//! Coatepec runs exactly the specs you name in a warm Rails process, each run in a child of its own,
//! and answers with a structured verdict that is true.
//!
//! Modules in reading order; arrows point downward only (`tests/unit/layers.rs` checks it).

pub mod cli;
pub mod config;
pub mod daemon;
pub mod dirs;
pub mod error;
pub mod journal;
pub mod mcp;
pub mod process;
pub mod project;
pub mod reading;
pub mod run;
pub mod sandbox;
pub mod supervisor;
pub mod worker;
