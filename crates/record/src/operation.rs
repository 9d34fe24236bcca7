//! Operations that statistics tell apart.

/// Number of operations that are told apart: `tameshi_workload::OPERATIONS` in that order, then a program's transaction.
pub const OPERATION_COUNT: usize = 6;
/// Their words in tags and metrics.
pub const OPERATION_WORDS: [&str; OPERATION_COUNT] = ["read", "write", "sync", "commit", "trim", "transaction"];
