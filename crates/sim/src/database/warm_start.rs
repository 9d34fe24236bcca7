//! Warm start: the buffer pool as it is after everything was read once and, unless the start is
//! `scanned`, the workload has run for a while.
//!
//! No time passes, and no request reaches the drives. First all tables and indexes are read, one
//! after the other, as the measured world does. If they do not all fit, a warm start goes on with
//! the workload's own transactions, one client after the other, until the pool holds the pages that
//! they request most. All pages are clean afterwards, and the log is empty.

use super::connections::EPOCH;
use super::plan::{Op, Plan};
use super::pool::Found;
use super::statements::Statements;
use super::store::Store;
use super::tpcc::Undo;
use tameshi_base::Random;
use tameshi_workload::program::{Client, Reply, Seeds, Statement, Step};

/// Gets per frame after which the pool is warm, however few pages came in.
const MOST_GETS: u64 = 32;

/// Buffers of a transaction that is worked out, and counts of its gets.
#[derive(Default)]
struct Work {
    statement: Statement,
    reply: Reply,
    plan: Plan,
    undo: Vec<Undo>,
    gets: u64,
    /// Gets whose pages had to come in.
    misses: u64,
}

/// Read all tables and indexes, long before the run.
pub(super) fn start_scanned(store: &mut Store) {
    scan(store);
    store.pool.set_used_long_ago();
}

fn scan(store: &mut Store) {
    let (pages, (first, buffer)) = (store.layout.next, store.layout.change_buffer);
    let mut work = Work::default();
    (0..first).chain(first + buffer..pages).for_each(|page| touch(store, page, &mut work));
}

/// Read all tables and indexes; if they are too large for the pool, fill it with the pages that the
/// workload requests.
pub(super) fn warm(store: &mut Store, statements: &mut Statements) {
    scan(store);
    let (pages, (_, buffer)) = (store.layout.next, store.layout.change_buffer);
    let mut work = Work::default();
    let frames = u64::from(store.pool.frames());
    if u64::from(pages - buffer) <= frames {
        return;
    }
    // Without time no page would ever be in the old part for long enough.
    let old_time = store.pool.set_old_time(0);
    let seeds = Seeds { run: Random::named(statements.seeds.run, "warm").bits(), ..statements.seeds };
    let (count, shared) = (statements.spec.clients(), statements.program.shared());
    let mut clients: Vec<_> =
        (0..count).map(|number| statements.program.client(number, count, seeds, &shared)).collect();
    for client in (0..clients.len()).cycle() {
        if work.misses >= frames || work.gets >= frames * MOST_GETS {
            break;
        }
        run_transaction(store, statements, &mut clients[client], &mut work);
    }
    store.pool.set_old_time(old_time);
}

/// Read all pages that a client's next transaction requests.
fn run_transaction(store: &mut Store, statements: &mut Statements, client: &mut Client, work: &mut Work) {
    client.begin(EPOCH);
    work.reply.restart(1);
    loop {
        match client.next(&work.reply, &mut work.statement) {
            Step::Begin { .. } => {}
            Step::Commit => work.undo.clear(),
            Step::Rollback => statements.roll_back(&mut work.undo),
            Step::Run => run_statement(store, statements, work),
            Step::Done(_) => return work.undo.clear(),
        }
    }
}

fn run_statement(store: &mut Store, statements: &mut Statements, work: &mut Work) {
    work.plan.clear();
    let Work { statement, reply, plan, undo, .. } = &mut *work;
    statements.plan_into(&mut store.layout, (statement, reply, plan, undo));
    store.grow();
    for at in 0..work.plan.ops.len() {
        match work.plan.ops[at] {
            Op::Get(page) | Op::Change(page, _) | Op::Create(page, _) | Op::Secondary(page, _) => {
                touch(store, page, work);
            }
            Op::Scan(first, end, _) => (first..end).for_each(|page| touch(store, page, work)),
            Op::Lock(_) | Op::Enter(_) | Op::Leave(_) => {}
        }
    }
}

/// Use a page, and read it if the pool doesn't have it.
fn touch(store: &mut Store, page: u32, work: &mut Work) {
    work.gets += 1;
    if store.pool.get(page, 0) == Found::Missing {
        work.misses += 1;
        let frame = store.take_frame().expect("all pages are clean");
        store.pool.put(frame, page, true, 0);
        store.pool.arrived(frame);
        store.cache_page(page);
        store.pool.get(page, 0);
    }
}
