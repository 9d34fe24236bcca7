//! A warm start: what the buffer pool holds when everything was read once and the workload has gone on for a while.
//!
//! No time passes, and no request reaches the drives. First all tables and indexes are read, one after the other, as the
//! measured world does. Where they do not all fit, the workload's own transactions follow, one client after the other, so
//! that in the end the pool holds what they ask for most. All pages are clean afterwards, and the log is empty.

use super::client::EPOCH;
use super::plan::{Op, Plan};
use super::pool::Found;
use super::{Engine, Logic, Seeds};
use tameshi_base::Random;
use tameshi_workload::program::{Reply, Statement, Step};

/// Gets for each frame after which the pool is as warm as it gets, however few pages came in.
const MOST_GETS: u64 = 32;

/// Pages got so far, and those of them that had to come in.
#[derive(Default)]
struct Got {
    gets: u64,
    misses: u64,
}

impl Engine {
    /// Warms the pool.
    pub(super) fn warm(&mut self) {
        let (pages, (first, buffer)) = (self.layout.next, self.layout.change_buffer);
        (0..first).chain(first + buffer..pages).for_each(|page| self.touch(page, &mut Got::default()));
        let frames = u64::from(self.pool.frames());
        if u64::from(pages - buffer) <= frames {
            return;
        }
        // Without time a page would never have been in the old part for long enough.
        let old_time = self.pool.set_old_time(0);
        let seeds = Seeds { data: self.seeds.data, run: Random::named(self.seeds.run, "warm").bits() };
        let (count, shared) = (self.drives.clients(), self.program.shared());
        let mut clients: Vec<_> = (0..count).map(|number| self.program.client(number, count, seeds, &shared)).collect();
        let (mut got, mut work) = (Got::default(), Work::default());
        for client in (0..clients.len()).cycle() {
            if got.misses >= frames || got.gets >= frames * MOST_GETS {
                break;
            }
            clients[client].begin(EPOCH);
            self.transaction(&mut clients[client], &mut work, &mut got);
        }
        self.pool.set_old_time(old_time);
    }

    /// Carries a transaction out in no time.
    fn transaction(&mut self, client: &mut tameshi_workload::program::Client, work: &mut Work, got: &mut Got) {
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
                Step::Run => self.statement(work, got),
                Step::Done(_) => return work.undo.clear(),
            }
        }
    }

    fn statement(&mut self, work: &mut Work, got: &mut Got) {
        let Work { statement, reply, plan, undo } = work;
        plan.clear();
        Self::plan_into(&mut self.logic, &self.catalogue, &mut self.layout, (statement, reply, plan, undo));
        self.pool.grow(self.layout.next + 1);
        for op in &work.plan.ops {
            match *op {
                Op::Get(page) | Op::Change(page, _) | Op::Create(page, _) | Op::Secondary(page, _) => {
                    self.touch(page, got);
                }
                Op::Scan(first, end, _) => (first..end).for_each(|page| self.touch(page, got)),
                Op::Lock(_) | Op::Enter(_) | Op::Leave(_) => {}
            }
        }
    }

    fn touch(&mut self, page: u32, got: &mut Got) {
        got.gets += 1;
        if self.pool.get(page, self.now) != Found::Missing {
            return;
        }
        got.misses += 1;
        let frame = self.pool.take(self.pool.frames()).expect("all pages are clean");
        self.pool.put(frame, page, true, self.now);
        self.pool.arrived(frame);
        self.pool.get(page, self.now);
    }
}

/// What a transaction is worked out in.
#[derive(Default)]
struct Work {
    statement: Statement,
    reply: Reply,
    plan: Plan,
    undo: Vec<super::tpcc::Undo>,
}
