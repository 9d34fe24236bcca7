//! What clients will need soon is brought near to the processor: what is known of a page lies anywhere in memory, and waiting
//! for it would take longer than all else that a statement costs here. Results don't depend on it.

use super::plan::{Op, Plan};
use super::pool::Pool;
use super::{Engine, Logic};
use tameshi_workload::program::Client;
use tameshi_workload::program::tpcc::Input;

impl Engine {
    /// A statement was planned.
    pub(super) fn outlook(pool: &Pool, plan: &mut Plan) {
        for op in &plan.ops {
            if let Op::Get(page) = *op {
                pool.expect(page);
            }
        }
        plan.soon.drain(..).for_each(|page| pool.bring(page));
    }

    /// A client has drawn its transaction.
    pub(super) fn outlook_of(&self, client: u32) {
        let (Logic::Tpcc(state), Client::Tpcc(terminal)) = (&self.logic, &self.clients[client as usize].client) else {
            return;
        };
        let (w, input) = terminal.input();
        match *input {
            Input::NewOrder { d, count, lines, .. } => {
                state.bring_district(w, d);
                for line in &lines[..count] {
                    self.pool.bring(state.stock_page(&self.layout, line.supply, line.item));
                }
            }
            Input::Payment { c_w, c_d, .. } => state.bring_names(c_w, c_d),
            _ => {}
        }
    }
}
