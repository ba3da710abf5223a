//! Rules that need no process and no Rails.

mod config;
mod project;
