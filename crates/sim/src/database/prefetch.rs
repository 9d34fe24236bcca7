//! What clients will need soon is brought near to the processor: what is known of a page lies anywhere in memory, and waiting
//! for it would take longer than all else that a statement costs here. Results don't depend on it.

use super::change_buffer::ChangeBuffer;
use super::plan::{Op, Plan};
use super::pool::Pool;
use super::{Engine, Logic};
use tameshi_workload::program::Client;
use tameshi_workload::program::tpcc::{Customer, Input};

impl Engine {
    /// A statement was planned.
    pub(super) fn outlook(pool: &Pool, change_buffer: &ChangeBuffer, plan: &mut Plan) {
        for op in &plan.ops {
            let (page, is_there) = match *op {
                Op::Get(page) => (page, pool.expect(page)),
                Op::Change(page, _) | Op::Secondary(page, _) => (page, pool.expect_change(page)),
                _ => continue,
            };
            if !is_there {
                change_buffer.expect(page);
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
            Input::NewOrder { d, c, count, lines } => {
                state.bring_district(w, d);
                self.pool.bring(state.customer_page(&self.layout, (w, d), c));
                for line in &lines[..count] {
                    self.pool.bring(state.stock_page(&self.layout, line.supply, line.item));
                    for page in state.line_by_stock_pages(&self.layout, line.supply, line.item) {
                        self.pool.bring(page);
                    }
                }
            }
            Input::Payment { c_w, c_d, customer, .. } => {
                state.bring_names(c_w, c_d);
                if let Customer::Number(c) = customer {
                    self.pool.bring(state.customer_page(&self.layout, (c_w, c_d), c));
                }
            }
            _ => {}
        }
    }
}
