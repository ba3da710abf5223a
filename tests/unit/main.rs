//! Rules that need no process and no Rails.

mod config;
mod project;
mod selector;
mod selector_disk;
mod selector_properties;
