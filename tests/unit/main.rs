//! Rules that need no process and no Rails.

mod config;
