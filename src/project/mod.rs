//! The app on disk.
