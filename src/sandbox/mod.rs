//! What a process of ours may do.
