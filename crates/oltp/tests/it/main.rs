//! The driver on SQLite, which needs no server; `tests/servers` has what needs one.

mod runs;
mod same_rows;
mod support;
