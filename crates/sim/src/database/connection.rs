//! Clients: each goes through the steps of its transactions, and waits where it must.

use super::change_buffer::Way;
use super::counters::{Count, Told, Why};
use super::locks::Asked;
use super::plan::{Op, Plan, Visit};
use super::pool::Found;
use super::pool_mutex::Computing;
use super::stage::{After, End, Stage};
use super::undo::Noted;
use super::{Alarm, Engine, Logic, NONE, Purpose, REQUEST};
use tameshi_base::{CommandKind, Nanos};
use tameshi_spec::profile::FreePages;
use tameshi_workload::Schedule;
use tameshi_workload::program::{Client, Outcome, Reply, Shape, Statement, Step, Transaction};

/// Redo besides the model's own count goes with a change's first bytes: long values bring none along.
const EXTRA_OF: u64 = 1024;
/// A client of the engine.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) client: Client,
    pub(super) statement: Statement,
    reply: Reply,
    pub(super) plan: Plan,
    /// Next step of the plan.
    at: usize,
    /// Next page of a scan.
    scan: u32,
    pub(super) stage: Stage,
    pub(super) why: Why,
    pub(super) since: Nanos,
    pub(super) transaction: Transaction,
    pub(super) began: Nanos,
    /// In open loop when its transactions arrive, and when the one under way did.
    pub(super) schedule: Option<Schedule>,
    pub(super) arrived: Option<Nanos>,
    pub(super) wrote: bool,
    asks_locks: bool,
    /// It waited since the statement was planned.
    pub(super) waited: bool,
    /// It has looked for a free frame so often.
    pub(super) tries: u32,
    /// What it does about a change of a leaf; the leaf whose bitmap it has asked.
    pub(super) way: Way,
    pub(super) asked: u32,
    /// Log position of its last change.
    pub(super) lsn: u64,
    /// Processor time that is due with its statement.
    cpu: Nanos,
    pub(super) computing: Computing,
    gets: u64,
    pub(super) undo: Vec<super::tpcc::Undo>,
    pub(super) noted: Noted,
    /// Pages that its transaction has gone through to the rows it changed, for those who purge.
    pub(super) changed: Vec<Visit>,
}

impl Seat {
    pub(super) fn new(client: Client, now: Nanos) -> Self {
        Self {
            client,
            statement: Statement::default(),
            reply: Reply::default(),
            plan: Plan::default(),
            at: 0,
            scan: NONE,
            stage: Stage::Next,
            why: Why::Processor,
            since: now,
            transaction: Transaction::default(),
            began: now,
            schedule: None,
            arrived: None,
            wrote: false,
            asks_locks: false,
            waited: false,
            tries: 0,
            way: Way::Undecided,
            asked: NONE,
            lsn: 0,
            cpu: 0,
            computing: Computing::default(),
            gets: 0,
            undo: Vec::new(),
            noted: Noted::NOWHERE,
            changed: Vec::new(),
        }
    }

    /// How long its user pauses around the transaction under way.
    pub(super) fn pause(&self) -> Nanos {
        self.transaction.keying + self.transaction.thinking
    }

    /// What it was at is forgotten.
    pub(super) fn forget(&mut self) {
        (self.wrote, self.waited, self.tries, self.gets, self.scan) = (false, false, 0, 0, NONE);
        self.cpu = 0;
        (self.way, self.asked) = (Way::Undecided, NONE);
        self.noted = Noted::NOWHERE;
        self.changed.clear();
    }
}

impl Engine {
    /// A client waits for something from now on; what it did before is accounted for.
    pub(super) fn turns(&mut self, client: u32, stage: Stage, why: Why) {
        let seat = &mut self.clients[client as usize];
        self.counters.spent(seat.why, seat.transaction.kind, self.now - seat.since);
        (seat.stage, seat.why, seat.since) = (stage, why, self.now);
    }

    /// Accounts for the time of all clients up to `end`.
    pub(super) fn account(&mut self, end: Nanos) {
        for seat in self.clients.iter_mut().filter(|seat| seat.stage != Stage::Ended) {
            self.counters.spent(seat.why, seat.transaction.kind, end.saturating_sub(seat.since));
            seat.since = end;
        }
    }

    /// The client may go on with its plan.
    pub(super) fn make_ready(&mut self, client: u32) {
        self.turns(client, Stage::Planned, Why::Processor);
        self.ready.push_back(client);
    }

    /// A client's time has come.
    pub(super) fn wake(&mut self, client: u32) {
        match self.clients[client as usize].stage {
            Stage::Thinking => self.begin_transaction(client),
            Stage::Idle => self.draw(client),
            Stage::Typing => self.started(client),
            Stage::Away => self.committed(client),
            Stage::Waiting => self.make_ready(client),
            Stage::HeldUp(after) => self.is_let_in(client, after),
            _ => {}
        }
    }

    pub(super) fn go_on(&mut self, client: u32) {
        match self.clients[client as usize].stage {
            Stage::Next => self.next_step(client),
            Stage::Planned => self.go_through(client),
            Stage::Space if self.is_shutting_down() => self.turn_away(client),
            Stage::Space => self.plan(client),
            _ => {}
        }
    }

    /// Asks the program for its next step.
    fn next_step(&mut self, client: u32) {
        loop {
            let seat = &mut self.clients[client as usize];
            let step = seat.client.next(&seat.reply, &mut seat.statement);
            let ends = matches!(step, Step::Done(_)) && !seat.wrote;
            if !ends && self.is_shutting_down() {
                return self.turn_away(client);
            }
            match step {
                Step::Begin { .. } => {}
                Step::Run => return self.plan(client),
                // Servers count the statement; what commits by itself is none.
                Step::Commit => {
                    self.counters.one(Count::Statements);
                    self.counters.one(Count::Commits);
                    self.told[Told::Others as usize] += 1;
                    return self.end_transaction(client, End::Commit);
                }
                Step::Rollback => {
                    self.counters.one(Count::Statements);
                    self.told[Told::Others as usize] += 1;
                    self.told[Told::RolledBack as usize] += 1;
                    return self.end_transaction(client, End::RollBack);
                }
                Step::Done(outcome) => {
                    debug_assert!(!matches!(outcome, Outcome::Missing(_)), "{outcome:?}");
                    let wrote = self.clients[client as usize].wrote;
                    return self.end_transaction(client, if wrote { End::Commit } else { End::Done });
                }
            }
        }
    }

    /// Plans the statement that the program has asked for.
    fn plan(&mut self, client: u32) {
        let shape = &self.catalogue.shapes[self.clients[client as usize].statement.shape as usize];
        if shape.writes() && self.redo.age() > self.redo.most_age() {
            self.turns(client, Stage::Space, Why::LogSpace);
            self.space_waiters.push(client);
            self.flush_for_the_log();
            return;
        }
        let count = match shape {
            Shape::Insert { .. } => Count::Inserts,
            Shape::Update { .. } => Count::Updates,
            Shape::Delete { .. } => Count::Deletes,
            _ => Count::Selects,
        };
        self.counters.one(Count::Statements);
        self.counters.one(count);
        self.told[if shape.writes() { Told::Writes } else { Told::Reads } as usize] += 1;
        self.turns(client, Stage::Planned, Why::Processor);
        let seat = &mut self.clients[client as usize];
        seat.plan.clear();
        let Seat { statement, reply, plan, undo, .. } = &mut *seat;
        Self::plan_into(&mut self.logic, &self.catalogue, &mut self.layout, (statement, reply, plan, undo));
        Self::outlook(&self.pool, &self.change_buffer, &mut seat.plan);
        // Without locks nothing that was answered may have changed meanwhile.
        seat.asks_locks =
            self.settings.model.row_locks.is_some() && seat.plan.ops.iter().any(|op| matches!(op, Op::Lock(_)));
        (seat.at, seat.scan, seat.waited, seat.gets) = (0, NONE, false, 0);
        if seat.plan.changed > 0 {
            self.plan_undo(client);
        }
        self.pool.grow(self.layout.next + 1);
        self.go_through(client);
    }

    /// Plans a statement and answers it.
    pub(super) fn plan_into(
        logic: &mut Logic,
        catalogue: &super::Catalogue,
        layout: &mut super::Layout,
        (statement, reply, plan, undo): (&Statement, &mut Reply, &mut Plan, &mut Vec<super::tpcc::Undo>),
    ) {
        match logic {
            Logic::Plain(planner) => planner.statement(catalogue, layout, statement, plan, reply),
            Logic::Tpcc(state) => state.statement(layout, statement, (plan, reply), undo),
        }
    }

    /// Goes through the plan until it is done or has to wait.
    fn go_through(&mut self, client: u32) {
        loop {
            let seat = &mut self.clients[client as usize];
            let (from, ops) = (seat.at, &seat.plan.ops);
            while let Some(&Op::Get(page)) = ops.get(seat.at)
                && self.pool.hit(page, self.now)
            {
                seat.at += 1;
            }
            if seat.at > from {
                let hits = (seat.at - from) as u64;
                (seat.gets, seat.tries) = (seat.gets + hits, 0);
                self.counters.add(Count::PageRequests, hits);
            }
            let Some(&op) = ops.get(seat.at) else { return self.planned_is_done(client) };
            let passed = match op {
                Op::Get(page) => self.get(client, page).is_some(),
                Op::Change(page, redo) => self.change(client, page, redo),
                Op::Create(page, redo) => self.create(client, page, redo),
                Op::Secondary(page, redo) => self.secondary(client, page, redo),
                Op::Lock(_) if self.settings.model.row_locks.is_none() => true,
                Op::Lock(row) => match self.locks.ask(client, row) {
                    Asked::Granted => true,
                    Asked::Waits => {
                        self.counters.one(Count::LockWaits);
                        let seat = &mut self.clients[client as usize];
                        // Granted when it is woken: the step is done then.
                        (seat.waited, seat.at) = (true, seat.at + 1);
                        self.turns(client, Stage::Waiting, Why::RowLock);
                        return;
                    }
                    Asked::Deadlock => return self.deadlock(client),
                },
                Op::Enter(table) => self.enter_tree(client, table),
                Op::Leave(table) => self.leave_tree(table),
                Op::Scan(first, end, rows) => {
                    if !self.scan(client, (first, end), rows) {
                        return;
                    }
                    true
                }
            };
            if !passed {
                self.clients[client as usize].waited = true;
                return;
            }
            let seat = &mut self.clients[client as usize];
            (seat.at, seat.way, seat.asked) = (seat.at + 1, Way::Undecided, NONE);
        }
    }

    /// All pages were there and all locks: what remains is the processor's time.
    fn planned_is_done(&mut self, client: u32) {
        let seat = &mut self.clients[client as usize];
        if seat.waited && seat.asks_locks {
            // What it says may have changed before it had its locks.
            let (steps, rows, changed) = (seat.plan.ops.len(), seat.plan.rows, seat.plan.changed);
            let Seat { statement, reply, plan, undo, .. } = &mut *seat;
            Self::plan_into(&mut self.logic, &self.catalogue, &mut self.layout, (statement, reply, plan, undo));
            seat.plan.ops.truncate(steps);
            (seat.plan.rows, seat.plan.changed) = (rows, changed);
        }
        let (cpu, plan) = (&self.settings.cpu, &seat.plan);
        let time = cpu.statement
            + seat.gets * cpu.page_get
            + plan.rows * cpu.row
            + plan.changed * cpu.change
            + std::mem::take(&mut seat.cpu);
        if plan.changed > 0 {
            seat.wrote = true;
            self.note_changes(client);
        }
        self.begin_work(client, time, After::Statement);
    }

    pub(super) fn begin_work(&mut self, client: u32, time: Nanos, after: After) {
        self.turns(client, Stage::Working(after), Why::Processor);
        self.note_mutex(client, time);
        self.work(client, time);
    }

    /// A client's work on a processor is done.
    pub(super) fn client_worked(&mut self, client: u32) {
        let stage = self.clients[client as usize].stage;
        if let Stage::Working(after) = stage {
            self.has_computed(client, after);
        } else if let Some(after) = Self::works_alone(stage) {
            self.goes_on_after(client, after);
        }
    }

    /// A client's work lies behind it, if nobody held it up.
    fn has_computed(&mut self, client: u32, after: After) {
        if !self.stands_still(client, after) {
            self.goes_on_after(client, after);
        }
    }

    /// The pool's mutex, which a client waited for, is free, unless somebody else has come before it.
    fn is_let_in(&mut self, client: u32, after: After) {
        if !self.is_kept_out(client, after) && !self.computes_again(client, after) {
            self.goes_on_after(client, after);
        }
    }

    fn goes_on_after(&mut self, client: u32, after: After) {
        match after {
            After::Statement => {
                let away = self.settings.cpu.round_trip;
                if away == 0 {
                    self.clients[client as usize].stage = Stage::Next;
                    self.ready.push_back(client);
                } else {
                    self.turns(client, Stage::Away, Why::Thinking);
                    self.alarm(self.now + away, Alarm::Client(client));
                }
            }
            After::Commit => self.commit_logged(client),
            After::Plan if self.is_shutting_down() => self.turn_away(client),
            After::Plan => {
                self.clients[client as usize].stage = Stage::Planned;
                self.ready.push_back(client);
            }
            After::Single => self.single_copied(client),
            After::Copied(frame) => self.page_arrived(frame, client),
        }
    }

    /// Has the page in the pool; `None` while the client waits for it.
    pub(super) fn get(&mut self, client: u32, page: u32) -> Option<u32> {
        match self.pool.get(page, self.now) {
            Found::Here(frame, first_use) => {
                let seat = &mut self.clients[client as usize];
                (seat.gets, seat.tries) = (seat.gets + 1, 0);
                self.counters.one(Count::PageRequests);
                if first_use && self.settings.area.0 > 0 {
                    let asked = self.look_ahead(page);
                    self.clients[client as usize].cpu += asked * self.settings.cpu.page_copy;
                }
                Some(frame)
            }
            Found::Coming(frame) => {
                self.page_waiters.push((frame, client));
                self.clients[client as usize].tries = 1;
                self.turns(client, Stage::Waiting, Why::PageRead);
                None
            }
            Found::Missing => {
                if !self.has_asked_bitmap(client, page) {
                    return None;
                }
                if self.clients[client as usize].tries == 0 {
                    self.counters.one(Count::PageMisses);
                }
                self.read_page(client, page);
                None
            }
        }
    }

    fn enter_tree(&mut self, client: u32, table: u8) -> bool {
        let entered = self.locks.enter(client, table);
        if !entered {
            self.turns(client, Stage::Waiting, Why::TreeLock);
        }
        entered
    }

    fn leave_tree(&mut self, table: u8) -> bool {
        if let Some(next) = self.locks.leave(table) {
            self.make_ready(next);
        }
        true
    }

    pub(super) fn change(&mut self, client: u32, page: u32, redo: u16) -> bool {
        // A page that was got by the step before is there still, as a rule: then this is no get of its own.
        let Some(frame) = self.frame_for_change(client, page) else { return false };
        if self.pool.is_latched(frame) {
            self.page_waiters.push((frame, client));
            self.turns(client, Stage::Waiting, Why::PageLatch);
            return false;
        }
        let bytes = self.logged(redo);
        let (begin, lsn) = self.redo.append(bytes);
        self.counters.add(Count::LogBytes, bytes);
        self.pool.change(frame, begin, lsn);
        if let Some(watch) = &mut self.watch {
            watch.change(page, lsn);
        }
        self.clients[client as usize].lsn = lsn;
        true
    }

    /// Bytes of log that so many bytes of a change make.
    #[inline]
    pub(super) fn logged(&self, redo: u16) -> u64 {
        let extra = u64::from(self.settings.model.redo_extra.value.0);
        u64::from(redo) + u64::from(redo).min(EXTRA_OF) * extra / 1_000_000
    }

    fn frame_for_change(&mut self, client: u32, page: u32) -> Option<u32> {
        let seat = &self.clients[client as usize];
        let just_got =
            seat.at > 0 && matches!(seat.plan.ops[seat.at - 1], Op::Get(got) | Op::Change(got, _) if got == page);
        match self.pool.frame(page) {
            Some(frame) if just_got => Some(frame),
            _ => self.get(client, page),
        }
    }

    pub(super) fn create(&mut self, client: u32, page: u32, redo: u16) -> bool {
        if !self.pool.holds(page) {
            let Some(frame) = self.free_frame(client) else { return false };
            self.pool.put(frame, page, false, self.now);
        }
        self.change(client, page, redo)
    }

    /// Goes on with a scan; `true` when it is at its end.
    fn scan(&mut self, client: u32, (first, end): (u32, u32), rows: u16) -> bool {
        let seat = &mut self.clients[client as usize];
        if seat.scan == NONE {
            seat.scan = first;
        }
        let page = seat.scan;
        if page >= end {
            return true;
        }
        if self.get(client, page).is_none() {
            return false;
        }
        let seat = &mut self.clients[client as usize];
        seat.scan = page + 1;
        let cpu = &self.settings.cpu;
        let time = cpu.page_get + u64::from(rows) * cpu.scan_row + std::mem::take(&mut seat.cpu);
        seat.gets -= 1;
        self.begin_work(client, time, After::Plan);
        false
    }

    /// Reads a page for a client, or waits for a frame to read it into.
    fn read_page(&mut self, client: u32, page: u32) {
        let Some(frame) = self.free_frame(client) else { return };
        self.pool.put(frame, page, true, self.now);
        self.page_waiters.push((frame, client));
        let seat = &mut self.clients[client as usize];
        (seat.cpu, seat.tries) = (seat.cpu + self.settings.cpu.page_read, 1);
        self.counters.one(Count::PagesRead);
        self.reads_pending += 1;
        let copy = self.settings.cpu.page_copy;
        if self.is_answered(page) {
            return self.begin_work(client, copy, After::Copied(frame));
        }
        self.clients[client as usize].cpu += copy;
        self.turns(client, Stage::Waiting, Why::PageRead);
        let offset = self.page_offset(page);
        self.command(client, REQUEST, CommandKind::Read, (offset, super::PAGE as u32), Purpose::PageRead(frame));
    }

    /// A page has come in that a thread has read: changes that were buffered for it are merged, and who waits goes on.
    pub(super) fn page_arrived(&mut self, frame: u32, thread: u32) {
        self.reads_pending -= 1;
        self.pool.arrived(frame);
        let bytes = self.merge_into(frame);
        self.counters.add(Count::LogBytes, bytes);
        if let Some(watch) = self.watch.as_mut().filter(|_| bytes > 0) {
            watch.change(self.pool.page(frame), self.redo.lsn());
        }
        let by_users = self.settings.free_pages == Some(FreePages::UserBatches);
        let mut at = 0;
        while at < self.page_waiters.len() {
            if self.page_waiters[at].0 == frame {
                let (_, client) = self.page_waiters.remove(at);
                if !(by_users && client == thread && self.keeps_margin(client)) {
                    self.make_ready(client);
                }
            } else {
                at += 1;
            }
        }
    }
}
