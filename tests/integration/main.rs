//! The binary, from outside.
