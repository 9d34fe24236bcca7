//! Transactions that take no time: what they do to pool, log and data set, one after the other.
//!
//! A warm start reads with them. Fast mode goes on with them between two stretches that are simulated: they touch and change
//! the pages that they would have, pages come in and go out and are flushed by the same rules, and how long each would have
//! taken comes from the stretch before. No request reaches the drives, nobody waits for a lock, and nothing is counted.

use super::arrivals::EPOCH;
use super::commit::REDO_COMMIT;
use super::flush::{LIST, LRU};
use super::plan::{Op, Plan};
use super::pool::Found;
use super::{Alarm, Engine, Logic, SECOND};
use std::cmp::Reverse;
use tameshi_base::Nanos;
use tameshi_workload::program::{Client, Reply, Statement, Step};

/// Pages got, and those of them that had to come in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Got {
    pub(super) gets: u64,
    pub(super) misses: u64,
}

/// What a transaction is worked out in.
#[derive(Default)]
pub(super) struct Work {
    statement: Statement,
    reply: Reply,
    plan: Plan,
    undo: Vec<super::tpcc::Undo>,
    /// Pages that are flushed together.
    pages: Vec<(u32, u64)>,
    pub(super) got: Got,
    /// It changes pages and logs that; else it reads them.
    changes: bool,
    wrote: bool,
}

/// How long transactions would take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Of each, in nanoseconds of the whole server.
    pub(crate) transaction_ns: f64,
    /// Of each page that comes in besides.
    pub(crate) miss_ns: f64,
    /// Pages a second that are flushed for the log's sake at most; infinite where it has never been known to be a limit.
    pub(crate) flushed_per_second: f64,
}

/// A stretch of time gone through without simulating it.
pub(crate) struct Forward {
    work: Work,
    pace: Pace,
    /// Time that is not used up yet, in nanoseconds; negative where the last transaction took longer.
    left_ns: f64,
    /// Pages that may still be flushed for the log's sake.
    flushes: f64,
    turn: usize,
    date: i64,
    began_lsn: u64,
    second_lsn: u64,
    flushed: [u64; 2],
    /// All pages flushed from the list of dirty ones.
    pub(crate) listed: u64,
    pub(crate) transactions: u64,
}

impl Engine {
    /// Begins to go forward from `date`, in seconds since the run's begin. All clients are between transactions.
    pub(crate) fn forward_from(&self, date: i64, pace: Pace) -> Forward {
        let lsn = self.redo.lsn();
        Forward {
            work: Work { changes: true, ..Work::default() },
            pace,
            left_ns: 0.0,
            flushes: 0.0,
            turn: 0,
            date: EPOCH + date,
            began_lsn: lsn,
            second_lsn: lsn,
            flushed: [0; 2],
            listed: 0,
            transactions: 0,
        }
    }

    /// Goes forward by a second, or less.
    pub(crate) fn forward(&mut self, forward: &mut Forward, length: Nanos) {
        // Without time no page would ever have been in the old part for long enough.
        let old_time = self.pool.set_old_time(0);
        forward.left_ns += length as f64;
        forward.flushes = forward.pace.flushed_per_second * length as f64 / SECOND as f64;
        while forward.left_ns > 0.0 {
            let before = forward.work.got.misses;
            let client = forward.turn;
            forward.turn = (client + 1) % self.clients.len();
            self.transaction_at_once(client, forward.date, &mut forward.work);
            forward.transactions += 1;
            let missed = (forward.work.got.misses - before) as f64;
            forward.left_ns -= forward.pace.transaction_ns + missed * forward.pace.miss_ns;
            self.redo.all_durable();
            self.flush_old_at_once(forward);
        }
        self.pool.set_old_time(old_time);
        self.second_at_once(forward, length);
    }

    /// The stretch is over.
    pub(crate) fn forward_ends(&mut self, forward: &Forward) {
        self.cleaner.pace.pass(self.redo.lsn() - forward.began_lsn);
        self.pool.take_looked();
    }

    /// Clients that have come to their end begin anew.
    pub(crate) fn resume(&mut self, now: Nanos) {
        self.now = now;
        self.closing = false;
        self.active = self.clients.len();
        // The second that was over meanwhile is over now.
        let alarms = std::mem::take(&mut self.alarms);
        let next = alarms.iter().find(|Reverse((_, _, alarm))| *alarm == Alarm::Second);
        let next = next.map_or(now + SECOND, |Reverse((at, ..))| (*at).max(now));
        self.alarm(next, Alarm::Second);
        (0..self.clients.len() as u32).for_each(|client| self.begin_transaction(client));
        self.settle();
    }

    /// A client's next transaction.
    fn transaction_at_once(&mut self, client: usize, date: i64, work: &mut Work) {
        self.clients[client].client.begin(date);
        work.wrote = false;
        work.reply.restart(1);
        loop {
            match self.clients[client].client.next(&work.reply, &mut work.statement) {
                Step::Begin { .. } => {}
                Step::Commit => work.undo.clear(),
                Step::Rollback => {
                    if let Logic::Tpcc(state) = &mut self.logic {
                        state.roll_back(&mut work.undo);
                    }
                    work.wrote = false;
                }
                Step::Run => {
                    self.statement_at_once(work);
                    self.undo_at_once(client as u32, work);
                }
                Step::Done(_) => break,
            }
        }
        work.undo.clear();
        if work.wrote {
            self.redo.append(REDO_COMMIT);
        }
    }

    /// Reads all pages that a client's next transaction asks for.
    pub(super) fn read_at_once(&mut self, client: &mut Client, work: &mut Work) {
        client.begin(EPOCH);
        work.reply.restart(1);
        loop {
            match client.next(&work.reply, &mut work.statement) {
                Step::Begin { .. } => {}
                Step::Commit => work.undo.clear(),
                Step::Rollback => {
                    if let Logic::Tpcc(state) = &mut self.logic {
                        state.roll_back(&mut work.undo);
                    }
                }
                Step::Run => self.statement_at_once(work),
                Step::Done(_) => return work.undo.clear(),
            }
        }
    }

    fn statement_at_once(&mut self, work: &mut Work) {
        work.plan.clear();
        let Work { statement, reply, plan, undo, .. } = &mut *work;
        Self::plan_into(&mut self.logic, &self.catalogue, &mut self.layout, (statement, reply, plan, undo));
        self.pool.grow(self.layout.next + 1);
        for at in 0..work.plan.ops.len() {
            match work.plan.ops[at] {
                Op::Get(page) => self.touch(page, work),
                Op::Change(page, redo) => self.change_at_once(page, redo, work),
                Op::Create(page, redo) => self.create_at_once(page, redo, work),
                Op::Secondary(page, redo) => self.secondary_at_once(page, redo, work),
                Op::Scan(first, end, _) => (first..end).for_each(|page| self.touch(page, work)),
                Op::Lock(_) | Op::Enter(_) | Op::Leave(_) => {}
            }
        }
    }

    /// The undo record of a statement that has changed something.
    fn undo_at_once(&mut self, client: u32, work: &mut Work) {
        if work.plan.changed > 0 {
            work.wrote = true;
            self.change_at_once(self.undo_page(client), UNDO, work);
        }
    }

    /// Uses a page, which comes in where it is not there.
    pub(super) fn touch(&mut self, page: u32, work: &mut Work) {
        work.got.gets += 1;
        match self.pool.get(page, self.now) {
            Found::Missing => {
                work.got.misses += 1;
                self.come_in(page, work);
                self.pool.get(page, self.now);
            }
            Found::Here(_, true) if work.changes && self.settings.area.0 > 0 => {
                let ahead = self.area_to_read(page).filter(|&page| !self.pool.holds(page));
                ahead.collect::<Vec<u32>>().into_iter().for_each(|page| self.come_in(page, work));
            }
            Found::Here(..) | Found::Coming(_) => {}
        }
    }

    /// A page comes in, and changes that were buffered for it are merged.
    fn come_in(&mut self, page: u32, work: &mut Work) {
        let frame = self.frame_at_once(work);
        self.pool.put(frame, page, true, self.now);
        self.pool.arrived(frame);
        if work.changes {
            self.merge_into(frame);
        }
    }

    /// A frame for another page, if need be after flushing at the LRU list's end.
    fn frame_at_once(&mut self, work: &mut Work) -> u32 {
        loop {
            if let Some(frame) = self.pool.take(self.settings.model.pool.search_depth.value) {
                return frame;
            }
            let frame = self.pool.dirty_at_end(self.pool.frames()).expect("what is not clean is dirty");
            self.write_at_once(frame, work);
        }
    }

    /// A dirty page is written with its neighbours; how many.
    fn write_at_once(&mut self, frame: u32, work: &mut Work) -> u64 {
        let most = self.settings.model.flushing.batch.value as usize;
        work.pages.clear();
        self.take_for_batch(frame, (most, false), &mut work.pages);
        for &(frame, lsn) in &work.pages {
            self.pool.written(frame, lsn);
        }
        self.redo.checkpoint(self.pool.oldest_change());
        work.pages.len() as u64
    }

    fn change_at_once(&mut self, page: u32, redo: u16, work: &mut Work) {
        let there = self.pool.frame(page);
        if there.is_none() || !work.changes {
            self.touch(page, work);
        }
        if let Some(frame) = self.pool.frame(page).filter(|_| work.changes) {
            let (begin, lsn) = self.redo.append(self.logged(redo));
            self.pool.change(frame, begin, lsn);
        }
    }

    fn create_at_once(&mut self, page: u32, redo: u16, work: &mut Work) {
        if work.changes && !self.pool.holds(page) {
            let frame = self.frame_at_once(work);
            self.pool.put(frame, page, false, self.now);
        }
        self.change_at_once(page, redo, work);
    }

    fn secondary_at_once(&mut self, page: u32, redo: u16, work: &mut Work) {
        if !work.changes || !self.is_bufferable(page) {
            return self.change_at_once(page, redo, work);
        }
        let (into, is_new) = self.buffer_page(page);
        if is_new {
            self.create_at_once(into, redo, work);
        }
        self.change_at_once(into, redo, work);
        self.buffer(page);
    }

    /// Pages with the oldest changes are flushed where the log is too full, as fast as that goes.
    fn flush_old_at_once(&mut self, forward: &mut Forward) {
        while self.redo.age() > self.redo.hasty_age() {
            let must = self.redo.age() > self.redo.most_age();
            let Some(frame) = self.pool.oldest_changes().next().filter(|_| must || forward.flushes > 0.0) else {
                return;
            };
            let written = self.write_at_once(frame, &mut forward.work);
            forward.flushed[LIST] += written;
            forward.listed += written;
            forward.flushes -= written as f64;
            if must && forward.flushes < 0.0 {
                // Everybody waits for it.
                forward.left_ns -= written as f64 / forward.pace.flushed_per_second * SECOND as f64;
                forward.flushes += written as f64;
            }
        }
    }

    /// What the page cleaner does in a second.
    fn second_at_once(&mut self, forward: &mut Forward, length: Nanos) {
        let lsn = self.redo.lsn();
        let per_second = (lsn - forward.second_lsn) as f64 * SECOND as f64 / length.max(1) as f64;
        forward.second_lsn = lsn;
        self.cleaner.note(std::mem::take(&mut forward.flushed));
        forward.date += (length / SECOND) as i64;
        let wanted = self.pages_for_this_second(per_second) * length / SECOND;
        let mut done = 0;
        while done < wanted {
            let Some(frame) = self.pool.oldest_changes().next() else { break };
            done += self.write_at_once(frame, &mut forward.work);
        }
        forward.flushed[LIST] += done;
        forward.listed += done;
        forward.flushed[LRU] = 0;
        for _ in 0..self.to_merge() {
            let Some(page) = self.next_to_merge() else { return };
            self.come_in(page, &mut forward.work);
        }
    }
}

/// Redo of an undo record.
pub(super) const UNDO: u16 = 60;
