//! Prefetch of page metadata that statements need soon: it lies anywhere in memory, and waiting
//! for it would take longer than all else that a statement costs here. No effect on results.

use super::change_buffer::ChangeBuffer;
use super::data_sets::Logic;
use super::layout::Layout;
use super::plan::{Op, Plan};
use super::pool::Pool;
use tameshi_workload::program::Client;
use tameshi_workload::program::tpcc::{Customer, Input};

/// Prefetch for a planned statement.
pub(super) fn for_plan(pool: &Pool, change_buffer: &ChangeBuffer, plan: &mut Plan) {
    for op in &plan.ops {
        let (page, is_present) = match *op {
            Op::Get(page) => (page, pool.prefetch_get(page)),
            Op::Change(page, _) | Op::Secondary(page, _) => (page, pool.prefetch_change(page)),
            _ => continue,
        };
        if !is_present {
            change_buffer.prefetch(page);
        }
    }
    plan.soon.drain(..).for_each(|page| pool.prefetch_entry(page));
}

/// Prefetch for a client's next transaction.
pub(super) fn for_transaction(client: &Client, logic: &Logic, pool: &Pool, layout: &Layout) {
    let (Logic::Tpcc(state), Client::Tpcc(terminal)) = (logic, client) else { return };
    let (w, input) = terminal.input();
    match *input {
        Input::NewOrder { d, c, count, lines } => {
            state.prefetch_district(w, d);
            pool.prefetch_entry(state.customer_page(layout, (w, d), c));
            for line in &lines[..count] {
                pool.prefetch_entry(state.stock_page(layout, line.supply, line.item));
                for page in state.line_by_stock_pages(layout, line.supply, line.item) {
                    pool.prefetch_entry(page);
                }
            }
        }
        Input::Payment { c_w, c_d, customer, .. } => {
            state.prefetch_names(c_w, c_d);
            if let Customer::Number(c) = customer {
                pool.prefetch_entry(state.customer_page(layout, (c_w, c_d), c));
            }
        }
        _ => {}
    }
}
