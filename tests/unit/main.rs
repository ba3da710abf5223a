//! Rules that need no process and no Rails.

mod changes;
mod config;
mod environment;
mod freshness;
mod layers;
mod link;
mod log;
mod mode;
mod outcome;
mod outcome_properties;
mod output;
mod paths;
mod project;
mod protocol;
mod reliability;
mod report;
mod report_budget;
mod rewrites;
mod ruby;
mod ruby_side;
mod selector;
mod selector_disk;
mod selector_properties;
mod state;
mod told;
mod wire_properties;
