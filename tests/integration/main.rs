//! The binary, from outside.

mod boot;
mod bounds;
mod concurrency;
mod faults;
mod floods;
mod freshness;
mod guards;
mod keeper;
mod keeper_lost;
mod lifetime;
mod locks;
mod mcp;
mod mistrust;
mod modes;
mod no_room;
mod odd_boots;
mod odd_roots;
mod process;
mod process_channel;
mod process_support;
mod results;
mod selectors;
mod soak;
mod support;
mod survival;
mod wedged;
