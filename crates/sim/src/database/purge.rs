//! Purging of committed transactions' undo records, as MariaDB does it (row0purge.cc).
//!
//! A purge thread reads the transaction's undo page and takes it off its rollback segment's
//! history. It removes deleted rows and index entries: their pages come in again, if they are no
//! longer in the pool, and are changed again. The pages of changed and inserted rows are left
//! alone: MariaDB 10.11.19 purged 4,000 updates of rows whose pages had been replaced, with no
//! page of the table read or changed.
//!
//! A transaction is purged once no transaction needs the old rows: when each one that had begun
//! before its commit has ended. Once a second (srv0srv.cc: `srv_master_callback`) the threads take
//! due transactions in batches (trx0purge.cc), one after the other, until none is left.
//!
//! Simplified: a thread takes one page after another, whichever table it is of, also while it is
//! written. It skips a page that is being read, and drops transactions beyond [`MOST`] pages.

use super::connection::Connection;
use super::connections::{Admission, Connections};
use super::counters::Count;
use super::plan::{Op, Visit};
use super::pool::Found;
use super::port::{Purpose, REQUEST};
use super::settings::PurgeSettings;
use super::storage_engine::StorageEngine;
use super::store::Store;
use std::collections::VecDeque;
use std::ops::Range;
use tameshi_base::Nanos;
use tameshi_workload::program::Shape;

/// Processor time of a thread's work at once.
const PIECE: Nanos = 200_000;
/// Upper bound on queued pages.
const MOST: usize = 1 << 20;
/// Transactions of a batch at most (innodb_purge_batch_size).
const BATCH: usize = 127;

/// Queue of pages to purge, and the purge threads.
#[derive(Debug)]
pub(super) struct Purge {
    settings: PurgeSettings,
    left: VecDeque<Visit>,
    /// Commits, and the number of their pages in the queue.
    commits: VecDeque<(Nanos, usize)>,
    /// Pages of the batch under way.
    due: usize,
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    is_at_work: bool,
    /// Page that the thread waits for.
    awaits: Option<Visit>,
    /// Processor time not yet spent.
    owed: Nanos,
}

impl Purge {
    pub(super) fn new(settings: PurgeSettings) -> Self {
        Self {
            settings,
            left: VecDeque::new(),
            commits: VecDeque::new(),
            due: 0,
            threads: vec![Thread::default(); settings.threads as usize],
        }
    }

    /// Return whether no thread is at work.
    pub(super) fn is_idle(&self) -> bool {
        !self.threads.iter().any(|thread| thread.is_at_work)
    }

    /// Note the pages of a statement with rows or index entries to remove: those that it has
    /// deleted, and the old entries of changed rows.
    pub(super) fn note(&self, connection: &mut Connection, shape: &Shape, undo: Range<u32>) {
        let deletes = match shape {
            _ if self.settings.threads == 0 => return,
            Shape::Delete { .. } => true,
            Shape::Update { .. } => false,
            _ => return,
        };
        let visits = &mut connection.changes.visits;
        for op in &connection.plan.ops {
            let visit = match *op {
                Op::Get(page) if deletes => Visit { page, redo: 0 },
                Op::Change(page, _) if deletes && !undo.contains(&page) => Visit { page, redo: self.settings.redo },
                Op::Secondary(page, _) => Visit { page, redo: self.settings.redo },
                _ => continue,
            };
            match visits.last_mut() {
                Some(last) if last.page == visit.page => last.redo = last.redo.max(visit.redo),
                _ => visits.push(visit),
            }
        }
    }

    /// Queue the pages of a transaction that was committed at `now`: its undo log's, the header of
    /// its rollback segment, and those that were noted.
    pub(super) fn queue(&mut self, visits: &mut Vec<Visit>, (undo_page, header): (u32, u32), now: Nanos) {
        if self.settings.threads > 0 && self.left.len() < MOST {
            self.left.push_back(Visit { page: undo_page, redo: 0 });
            self.left.push_back(Visit { page: header, redo: self.settings.history });
            self.left.extend(visits.iter());
            self.commits.push_back((now, visits.len() + 2));
        }
        visits.clear();
    }

    /// Begin a batch of transactions whose old rows no transaction needs, unless one is under way.
    pub(super) fn begin_batch(&mut self, engine: &mut StorageEngine, connections: &Connections) {
        if !self.is_idle() || self.commits.is_empty() {
            return;
        }
        let oldest = connections.oldest_begin(engine.store.port.now);
        let ended = self.commits.iter().take(BATCH).take_while(|(at, _)| *at <= oldest).count();
        self.due += self.commits.drain(..ended).map(|(_, pages)| pages).sum::<usize>();
        self.resume(engine, connections);
    }

    /// Let idle threads go on with the batch: it is new, or pages may be free again.
    pub(super) fn resume(&mut self, engine: &mut StorageEngine, connections: &Connections) {
        for number in 0..self.threads.len() {
            if self.due > 0 && !self.threads[number].is_at_work {
                self.run(number, engine, connections);
            }
        }
    }

    /// Run a thread until it has to work or to wait, or has nothing left to do.
    pub(super) fn run(&mut self, number: usize, engine: &mut StorageEngine, connections: &Connections) {
        let stops = connections.is_closing || connections.admission == Admission::Closing;
        let mut time = 0;
        while time < PIECE && self.due > 0 && !stops {
            let Some(&visit) = self.left.front() else { break };
            let StorageEngine { store, flusher, .. } = &mut *engine;
            let found = store.pool.get(visit.page, store.port.now);
            let frame = if found == Found::Missing { flusher.frame_for_reader(store) } else { None };
            if found == Found::Missing && frame.is_none() {
                break;
            }
            self.left.pop_front();
            self.due -= 1;
            store.counters.one(Count::PageRequests);
            time += store.settings.cpu.page_get;
            if let Some(frame) = frame {
                self.threads[number] = Thread { is_at_work: true, awaits: Some(visit), owed: time };
                return self.read(number, engine, (frame, visit.page));
            }
            if let Found::Here(frame, _) = found {
                time += Self::change(store, frame, visit);
            }
        }
        self.threads[number].is_at_work = time > 0;
        if time > 0 {
            engine.store.port.work(engine.store.port.threads.purger(number), time);
        } else if self.due == 0 {
            self.begin_batch(engine, connections);
        }
    }

    /// Change a page in a frame. Return the processor time.
    fn change(store: &mut Store, frame: u32, visit: Visit) -> Nanos {
        if visit.redo == 0 {
            return 0;
        }
        store.change(frame, visit.page, u64::from(visit.redo));
        store.settings.cpu.change
    }

    fn read(&mut self, number: usize, engine: &mut StorageEngine, (frame, page): (u32, u32)) {
        let store = &mut engine.store;
        store.counters.one(Count::PageMisses);
        store.counters.one(Count::PagesRead);
        store.pool.put(frame, page, true, store.port.now);
        engine.read_threads.pending += 1;
        if store.is_cached(page) {
            self.page_arrived(number, engine, frame);
        } else {
            let thread = store.port.threads.purger(number);
            store.read(thread, REQUEST, page, Purpose::PurgeRead(frame));
        }
    }

    /// Continue with the page that a thread waits for.
    pub(super) fn page_arrived(&mut self, number: usize, engine: &mut StorageEngine, frame: u32) {
        let thread = engine.store.port.threads.purger(number);
        engine.page_arrived(frame, thread);
        let store = &mut engine.store;
        let costs = store.settings.cpu;
        let owed = std::mem::take(&mut self.threads[number].owed);
        let mut time = owed + costs.page_read + costs.page_copy;
        if let Some(visit) = self.threads[number].awaits.take() {
            time += Self::change(store, frame, visit);
        }
        store.port.work(thread, time);
    }
}
