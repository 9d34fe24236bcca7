//! A simulated database server: InnoDB under MySQL or MariaDB, page by page, in virtual time.
//!
//! Clients are the programs' own ([`tameshi_workload::program`]). A statement becomes a [`plan`] of
//! page gets, changes and locks. Its connection goes through the plan, waits for pages that are
//! not in the [`pool`], for locks and for the log, and spends its processor time on the host.
//! Pages are flushed by the rules of the profile's version ([`flusher`]). Rows are not kept:
//! [`tpcc`] knows what replies need to touch the same rows as a real server.
//!
//! The [`Server`] coordinates its parts. Each part owns its state, and reports its effects on
//! other parts by return values, by [`store::Effect`]s on connections, and by requests to the
//! kernel ([`port`]). Calls go downwards in this order:
//!
//! | part | owns |
//! |---|---|
//! | [`Server`] with [`server`], [`lifecycle`], [`execution`] | nothing: they coordinate |
//! | [`group_commit`] | nothing: it moves commits through the binary log |
//! | [`connections`], [`access`] | connections with their plans and stages |
//! | [`purge`], [`recovery`], [`shutdown`], [`reload`] | the progress of each |
//! | [`storage_engine`] | the parts that move pages |
//! | [`flusher`], [`read_threads`], [`change_buffer`] | batches, page reads, buffered changes |
//! | [`store`] | pool, log, binary log, page cache, counters, port |
//!
//! Programs of different data sets share the server: their tables lie one after the other, and a
//! phase works on those of its own program.
//!
//! Known simplifications: reads take no latches; purging costs nothing but in MariaDB
//! ([`purge`]); the rows of a leaf that splits in its middle stay in place.

mod access;
mod binlog;
mod binlog_events;
mod change_buffer;
mod connection;
mod connections;
mod counters;
mod data_sets;
mod durability;
mod execution;
mod fault;
mod flusher;
mod group_commit;
mod layout;
mod lifecycle;
mod locks;
mod log;
mod options;
mod outage;
mod outage_tracker;
mod page_cache;
mod plan;
mod planner;
mod pool;
mod pool_mutex;
mod port;
mod prefetch;
mod purge;
mod read_threads;
mod recovery;
mod redo;
mod redo_records;
mod reload;
mod reporting;
#[cfg(test)]
mod same_rows;
mod server;
mod settings;
mod shutdown;
mod snapshot;
mod space;
mod statements;
mod storage_engine;
mod store;
mod tpcc;
mod undo_log;
mod validation;
mod warm_start;

use connections::Connections;
use locks::Locks;
use outage::Outages;
use purge::Purge;
use space::Space;
use statements::Statements;
use storage_engine::StorageEngine;

pub(crate) use counters::WAIT_REASONS;
pub(crate) use data_sets::refusals;
pub(crate) use fault::{FaultKind, ServerFault};
pub(crate) use port::Request;
pub(crate) use snapshot::{Snapshot, Totals};

/// A second, in nanoseconds.
const SECOND: tameshi_base::Nanos = 1_000_000_000;

/// A simulated database server.
pub(crate) struct Server {
    /// Number of its storage.
    pub(crate) storage: usize,
    /// Number of the storage's device.
    pub(crate) device: usize,
    /// Number of the log's device, if the log has a storage of its own.
    pub(crate) log_device: Option<usize>,
    /// Number of the binary log's device, if that log has a storage of its own.
    pub(crate) binlog_device: Option<usize>,
    engine: StorageEngine,
    statements: Statements,
    connections: Connections,
    locks: Locks,
    /// Buffer for connections whose locks are granted.
    unlocked: Vec<u32>,
    purge: Purge,
    space: Space,
    /// Only in runs with faults of the server or its storage.
    outages: Option<Box<Outages>>,
}
