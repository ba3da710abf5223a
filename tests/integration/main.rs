//! The binary, from outside.

mod boot;
mod bounds;
mod concurrency;
mod faults;
mod freshness;
mod keeper;
mod lifetime;
mod mcp;
mod modes;
mod process;
mod process_channel;
mod process_support;
mod results;
mod selectors;
mod support;
mod survival;
