//! The binary, from outside.

mod boot;
mod bounds;
mod concurrency;
mod faults;
mod freshness;
mod lifetime;
mod mcp;
mod results;
mod selectors;
mod support;
mod survival;
