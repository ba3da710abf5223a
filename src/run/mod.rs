//! One execution of a validated selection.
