//! What is left to do for rows after their transactions were committed, as MariaDB does it (row0purge.cc).
//!
//! Each row that was changed or put in is looked up again by one of the purge threads, which takes out of it what told its
//! transaction (`row_purge_reset_trx_id`, MDEV-12288): its page comes in again, if it is no longer there, and is changed again.
//! Deleted rows and entries of indexes go in the same way. The page of the undo log that tells of them is read before. That
//! comes when nobody may want to see them as they were: when each transaction has ended that had begun at the commit. The threads are
//! woken once a second (srv0srv.cc: `srv_master_callback`) and take what is due in batches (trx0purge.cc), one after the other, until
//! nothing is.
//!
//! Simplified: a thread takes a page after another, whichever table it is of, also while it is written; one that is on its way in
//! is passed over, and so is what comes when too much is left to do.

use super::connection::Seat;
use super::counters::Count;
use super::plan::{Op, Visit};
use super::pool::Found;
use super::{Engine, FIRST_PURGER, Purpose, REQUEST};
use std::collections::VecDeque;
use tameshi_base::{CommandKind, Nanos};
use tameshi_workload::program::Shape;

/// A thread works for so long at once at most.
const PIECE: Nanos = 200_000;
/// So many pages are left to do at most.
const MOST: usize = 1 << 20;
/// Transactions of a batch at most (innodb_purge_batch_size).
const BATCH: usize = 127;

/// Threads that purge.
#[derive(Debug, Default)]
pub(super) struct Purge {
    left: VecDeque<Visit>,
    /// When transactions were committed, and how many of these pages are theirs.
    commits: VecDeque<(Nanos, usize)>,
    /// So many of the pages are of the batch under way.
    due: usize,
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    is_at_work: bool,
    /// The page that it waits for.
    awaits: Option<Visit>,
    /// Processor time that it has not worked off.
    owed: Nanos,
}

impl Purge {
    pub(super) fn new(threads: u32) -> Self {
        Self { threads: vec![Thread::default(); threads as usize], ..Self::default() }
    }

    /// Whether no thread is at work.
    pub(super) fn is_idle(&self) -> bool {
        !self.threads.iter().any(|thread| thread.is_at_work)
    }
}

impl Engine {
    /// A statement has changed rows: what of its plan will be gone through again. An entry that was put into an index stays.
    pub(super) fn note_changes(&mut self, client: u32) {
        if self.settings.purge.0 == 0 {
            return;
        }
        let (first, pages) = self.layout.undo;
        let undo = first..first + pages;
        let Seat { plan, changed, statement, .. } = &mut self.clients[client as usize];
        let inserts = matches!(self.catalogue.shapes[statement.shape as usize], Shape::Insert { .. });
        for op in &plan.ops {
            let (page, changes) = match *op {
                Op::Get(page) => (page, false),
                Op::Change(page, _) | Op::Create(page, _) | Op::Secondary(page, _) if !undo.contains(&page) => {
                    (page, true)
                }
                _ => continue,
            };
            match changed.last_mut() {
                Some(last) if last.page == page => last.changes |= changes,
                _ => changed.push(Visit { page, changes }),
            }
            if inserts && changes {
                return;
            }
        }
    }

    /// A transaction is committed: what it has changed is left to the threads that purge.
    pub(super) fn hand_to_purge(&mut self, client: u32) {
        if self.clients[client as usize].changed.is_empty() {
            return;
        }
        let undo = self.undo_page(client);
        let changed = &mut self.clients[client as usize].changed;
        if self.purge.left.len() < MOST {
            self.purge.left.push_back(Visit { page: undo, changes: false });
            self.purge.left.extend(changed.iter());
            self.purge.commits.push_back((self.now, changed.len() + 1));
        }
        changed.clear();
    }

    /// Begins a batch of what nobody may want to see as it was, unless there is one under way: each second, and after another
    /// batch.
    pub(super) fn begin_to_purge(&mut self) {
        if !self.purge.is_idle() || self.purge.commits.is_empty() {
            return;
        }
        let active = self.clients.iter().filter(|seat| !seat.stage.is_outside());
        let oldest = active.map(|seat| seat.began).min().unwrap_or(self.now);
        let ended = self.purge.commits.iter().take(BATCH).take_while(|(at, _)| *at <= oldest).count();
        self.purge.due += self.purge.commits.drain(..ended).map(|(_, pages)| pages).sum::<usize>();
        self.go_on_purging();
    }

    /// Threads that have nothing to do go on with the batch: it is new, or there may be free pages again.
    pub(super) fn go_on_purging(&mut self) {
        let first = self.clients.len() as u32 + FIRST_PURGER;
        for number in 0..self.purge.threads.len() {
            if self.purge.due > 0 && !self.purge.threads[number].is_at_work {
                self.purge_on(first + number as u32);
            }
        }
    }

    /// A thread that purges goes on until it has to work or to wait, or has nothing left to do.
    pub(super) fn purge_on(&mut self, thread: u32) {
        let (costs, mut time) = (self.settings.cpu, 0);
        let number = self.purger(thread);
        while time < PIECE && self.purge.due > 0 && !self.closing && !self.is_shutting_down() {
            let Some(&visit) = self.purge.left.front() else { break };
            let found = self.pool.get(visit.page, self.now);
            let frame = if found == Found::Missing { self.frame_for_reader() } else { None };
            if found == Found::Missing && frame.is_none() {
                break;
            }
            self.purge.left.pop_front();
            self.purge.due -= 1;
            self.counters.one(Count::PageRequests);
            time += costs.page_get;
            if let Some(frame) = frame {
                self.purge.threads[number].owed = time;
                return self.read_to_purge(thread, frame, visit);
            }
            if let Found::Here(frame, _) = found {
                time += self.purge_row(frame, visit);
            }
        }
        self.purge.threads[number].is_at_work = time > 0;
        if time > 0 {
            self.work(thread, time);
        } else if self.purge.due == 0 {
            self.begin_to_purge();
        }
    }

    fn purger(&self, thread: u32) -> usize {
        (thread - self.clients.len() as u32 - FIRST_PURGER) as usize
    }

    /// Changes the row on a page that is there; processor time that takes.
    fn purge_row(&mut self, frame: u32, visit: Visit) -> Nanos {
        if !visit.changes {
            return 0;
        }
        let bytes = u64::from(self.settings.purge.1);
        let (begin, lsn) = self.redo.append(bytes);
        self.counters.add(Count::LogBytes, bytes);
        self.pool.change(frame, begin, lsn);
        if let Some(watch) = &mut self.watch {
            watch.change(visit.page, lsn);
        }
        self.settings.cpu.change
    }

    fn read_to_purge(&mut self, thread: u32, frame: u32, visit: Visit) {
        self.counters.one(Count::PageMisses);
        self.counters.one(Count::PagesRead);
        self.pool.put(frame, visit.page, true, self.now);
        self.reads_pending += 1;
        let number = self.purger(thread);
        (self.purge.threads[number].is_at_work, self.purge.threads[number].awaits) = (true, Some(visit));
        if self.is_answered(visit.page) {
            self.purge_read(thread, frame);
        } else {
            let place = (self.page_offset(visit.page), super::PAGE as u32);
            self.command(thread, REQUEST, CommandKind::Read, place, Purpose::PurgeRead(frame));
        }
    }

    /// The page that a thread waits for is there.
    pub(super) fn purge_read(&mut self, thread: u32, frame: u32) {
        self.page_arrived(frame, thread);
        let number = self.purger(thread);
        let costs = self.settings.cpu;
        let of = &mut self.purge.threads[number];
        let mut time = std::mem::take(&mut of.owed) + costs.page_read + costs.page_copy;
        if let Some(visit) = of.awaits.take() {
            time += self.purge_row(frame, visit);
        }
        self.work(thread, time);
    }
}
