//! One daemon per checkout and user, many sessions: agents and terminals share one warm app.
//!
//! A *daemon* owns the supervisor and listens on a socket; each connection is an MCP session. A *front* is what an MCP
//! client starts: it hands lines to and fro, starts a daemon where there is none, and another one when that is lost.
//!
//! Invariant: a daemon never gets in the way. What can't be shared (another version, another environment) has another
//! key, and where nothing can be shared at all a server of one's own does the work.

pub mod front;

pub mod relay;

pub mod client;

pub mod connect;

pub mod serve;

pub mod stop;

pub mod place;

pub mod key;

pub mod signals;
