//! Report of a server to the record and to phases that are simulated in part.

use super::Server;
use super::layout::PAGE;
use super::snapshot::{Snapshot, Totals};
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{RecordError, Writer};

impl Server {
    /// Return whether files go through the host's page cache.
    pub(crate) fn is_cached(&self) -> bool {
        self.engine.store.cache.is_present()
    }

    /// Return whether no connection pauses or waits for arrivals between transactions.
    pub(crate) fn is_unpaced(&self) -> bool {
        self.connections.is_unpaced()
    }

    /// Return an error if the storage has no room for the data set.
    pub(crate) fn no_space(&self) -> Option<String> {
        self.space.shortage(&self.engine.store.layout, &self.engine.store.settings)
    }

    /// Return the server's state.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let (store, change_buffer) = (&self.engine.store, &self.engine.change_buffer);
        let (pool, redo) = (&store.pool, &store.log.redo);
        let bytes = |pages: u32| (u64::from(pages) * PAGE) as f64;
        let frames = pool.frames();
        Snapshot {
            pool: bytes(frames - pool.free()),
            whole: bytes(frames),
            dirty: bytes(pool.dirty()),
            buffered: bytes(change_buffer.pages()),
            buffer_mark: bytes(change_buffer.next_mark(&store.layout)),
            age: redo.age() as f64,
            waiting: self.locks.waiting() as f64,
            cached: store.cache.bytes(),
            has_binlog: store.binlog.is_some(),
            most_dirty: bytes(frames) * store.settings.flushing.most_dirty as f64 / 1e6,
            hasty_age: redo.hasty_age().min(redo.capacity()) as f64,
            turned_over: pool.evictions() / f64::from(frames),
            log_turned_over: redo.lsn() as f64 / redo.capacity() as f64,
            leaf_changes: change_buffer.asked(),
        }
    }

    /// Take the totals of the interval that ends now.
    pub(crate) fn take_totals(&mut self, now: Nanos) -> Totals {
        let (connections, store) = (&mut self.connections, &mut self.engine.store);
        connections.account(now, store);
        self.space.simulated(store.layout.next, connections.done.iter().map(|done| done.0).sum());
        let none = vec![(0, 0); connections.list.len()];
        let done = std::mem::replace(&mut connections.done, none);
        let queue_time = connections.take_queue_time(now);
        Totals::new(&mut store.counters, (std::mem::take(&mut connections.counts), queue_time), done)
    }

    /// Set the totals of each connection in the phase, which was simulated in part.
    pub(crate) fn set_done(&mut self, totals: &Totals) {
        let done = &mut self.connections.done;
        done.clear();
        done.extend_from_slice(totals.clients());
        self.space.extrapolate(self.engine.store.layout.next, done.iter().map(|done| done.0).sum());
    }

    /// Record the totals of each connection in the phase that ends now.
    pub(crate) fn record_clients(&self, now: Nanos, phase: u32, writer: &mut Writer) -> Result<(), RecordError> {
        let (completed, busy): (Vec<u64>, Vec<Nanos>) = self.connections.done.iter().copied().unzip();
        writer.event(now, "clients", json!({ "phase": phase, "completed": completed, "busy_ns": busy }))
    }

    /// Record the counts of an interval, and the state at its end.
    pub(crate) fn write(
        &mut self,
        (begin, end): (Nanos, Nanos),
        word: &str,
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        let (connections, store) = (&mut self.connections, &mut self.engine.store);
        connections.account(end, store);
        let queue_time = connections.take_queue_time(end);
        let client_counts = (std::mem::take(&mut connections.counts), queue_time);
        let totals = Totals::new(&mut store.counters, client_counts, Vec::new());
        totals.write((begin, end), (word, &self.snapshot()), writer)
    }

    /// Record the arrivals that no connection has begun, and queued deliveries.
    pub(crate) fn write_unserved(
        &self,
        span: (Nanos, Nanos),
        word: &str,
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        self.connections.write_unserved(span, (word, &self.statements), writer)
    }
}
