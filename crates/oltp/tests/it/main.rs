//! Tests of the driver on SQLite, which needs no server; tests with servers are in `tests/servers`.

mod runs;
mod same_rows;
mod support;
