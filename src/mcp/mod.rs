//! The MCP front end.
