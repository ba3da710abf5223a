//! Starting, watching and ending processes: the only place that does.
