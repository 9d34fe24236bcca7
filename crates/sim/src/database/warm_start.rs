//! A warm start: what the buffer pool holds when everything was read once and the workload has gone on for a while.
//!
//! No time passes, and no request reaches the drives. First all tables and indexes are read, one after the other, as the
//! measured world does. Where they do not all fit, the workload's own transactions follow, one client after the other, so
//! that in the end the pool holds what they ask for most. All pages are clean afterwards, and the log is empty.

use super::arrivals::EPOCH;
use super::plan::{Op, Plan};
use super::pool::Found;
use super::tpcc::Undo;
use super::{Engine, Logic, Seeds};
use tameshi_base::Random;
use tameshi_workload::program::{Client, Reply, Statement, Step};

/// Gets for each frame after which the pool is as warm as it gets, however few pages came in.
const MOST_GETS: u64 = 32;

/// Pages got, and those of them that had to come in.
#[derive(Clone, Copy, Debug, Default)]
struct Got {
    gets: u64,
    misses: u64,
}

/// What a transaction is worked out in.
#[derive(Default)]
struct Work {
    statement: Statement,
    reply: Reply,
    plan: Plan,
    undo: Vec<Undo>,
    got: Got,
}

impl Engine {
    /// Warms the pool.
    pub(super) fn warm(&mut self) {
        let (pages, (first, buffer)) = (self.layout.next, self.layout.change_buffer);
        let mut work = Work::default();
        (0..first).chain(first + buffer..pages).for_each(|page| self.touch(page, &mut work.got));
        let frames = u64::from(self.pool.frames());
        if u64::from(pages - buffer) <= frames {
            return;
        }
        // Without time a page would never have been in the old part for long enough.
        let old_time = self.pool.set_old_time(0);
        let seeds = Seeds { data: self.seeds.data, run: Random::named(self.seeds.run, "warm").bits() };
        let (count, shared) = (self.drives.clients(), self.program.shared());
        let mut clients: Vec<_> = (0..count).map(|number| self.program.client(number, count, seeds, &shared)).collect();
        work.got = Got::default();
        for client in (0..clients.len()).cycle() {
            if work.got.misses >= frames || work.got.gets >= frames * MOST_GETS {
                break;
            }
            self.read_at_once(&mut clients[client], &mut work);
        }
        self.pool.set_old_time(old_time);
    }

    /// Reads all pages that a client's next transaction asks for.
    fn read_at_once(&mut self, client: &mut Client, work: &mut Work) {
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
                Step::Run => self.read_for_statement(work),
                Step::Done(_) => return work.undo.clear(),
            }
        }
    }

    fn read_for_statement(&mut self, work: &mut Work) {
        work.plan.clear();
        let Work { statement, reply, plan, undo, .. } = &mut *work;
        Self::plan_into(&mut self.logic, &self.catalogue, &mut self.layout, (statement, reply, plan, undo));
        self.pool.grow(self.layout.next + 1);
        for at in 0..work.plan.ops.len() {
            match work.plan.ops[at] {
                Op::Get(page) | Op::Change(page, _) | Op::Create(page, _) | Op::Secondary(page, _) => {
                    self.touch(page, &mut work.got);
                }
                Op::Scan(first, end, _) => (first..end).for_each(|page| self.touch(page, &mut work.got)),
                Op::Lock(_) | Op::Enter(_) | Op::Leave(_) => {}
            }
        }
    }

    /// Uses a page, which comes in where it is not there.
    fn touch(&mut self, page: u32, got: &mut Got) {
        got.gets += 1;
        if let Found::Missing = self.pool.get(page, self.now) {
            got.misses += 1;
            let depth = self.settings.model.pool.search_depth.value;
            let frame = self.pool.take(depth).expect("all pages are clean");
            self.pool.put(frame, page, true, self.now);
            self.pool.arrived(frame);
            self.caches_page(page);
            self.pool.get(page, self.now);
        }
    }
}
