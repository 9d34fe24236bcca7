//! What clients will need soon is brought near to the processor: what is known of a page lies anywhere in memory, and waiting
//! for it would take longer than all else that a statement costs here. Results don't depend on it.

use super::plan::{Op, Plan};
use super::pool::Pool;
use super::{Engine, Logic};
use tameshi_workload::program::Client;
use tameshi_workload::program::tpcc::Input;

impl Engine {
    /// A statement was planned; whether it asks for locks.
    pub(super) fn outlook(pool: &Pool, plan: &mut Plan) -> bool {
        let mut asks_locks = false;
        for op in &plan.ops {
            match *op {
                Op::Get(page) => pool.expect(page),
                Op::Lock(_) => asks_locks = true,
                _ => {}
            }
        }
        plan.soon.drain(..).for_each(|page| pool.bring(page));
        asks_locks
    }

    /// A client has drawn its transaction.
    pub(super) fn outlook_of(&self, client: u32) {
        let (Logic::Tpcc(state), Client::Tpcc(terminal)) = (&self.logic, &self.clients[client as usize].client) else {
            return;
        };
        match *terminal.input().1 {
            Input::NewOrder { d, count, lines, .. } => {
                state.bring((terminal.input().0, d), false);
                for line in &lines[..count] {
                    self.pool.bring(state.stock_page(&self.layout, line.supply, line.item));
                }
            }
            Input::Payment { c_w, c_d, .. } => state.bring((c_w, c_d), true),
            _ => {}
        }
    }
}
