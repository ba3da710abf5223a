//! The owner of all state.
