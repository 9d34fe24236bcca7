//! Kinds of jobs: plain commands, group commit, page flush, LSM tree.

pub(super) mod group_commit;
pub(super) mod lsm;
pub(super) mod page_flush;
pub(super) mod plain;
