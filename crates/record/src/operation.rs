//! Operations with separate statistics.

/// Number of operations with separate statistics: `tameshi_workload::OPERATIONS` in that order,
/// then a program's transaction.
pub const OPERATION_COUNT: usize = 6;
/// Names in tags and metrics.
pub const OPERATION_WORDS: [&str; OPERATION_COUNT] = ["read", "write", "sync", "commit", "trim", "transaction"];
