//! The warm Ruby process.
