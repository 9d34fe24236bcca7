//! Simulation kernel: jobs, database server, host and devices in one virtual time.

pub(crate) mod accounting;
pub(crate) mod clock;
pub(crate) mod device_map;
mod devices;
mod digest;
mod dispatch;
mod fast_path;
mod job_table;
mod look_ahead;
mod phase;
pub(crate) mod ready_tree;
pub(crate) mod run;
mod start_jobs;
pub(crate) mod state;
pub(crate) mod usage;
pub(crate) mod validate;
pub(crate) mod world;
