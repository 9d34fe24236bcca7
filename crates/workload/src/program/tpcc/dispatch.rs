//! Next statement of a terminal: each transaction has its own file.

use super::super::relation::{Reply, Statement};
use super::super::transaction::{Outcome, Step};
use super::input::Input;
use super::terminal::Terminal;

impl Terminal {
    pub(in super::super) fn next(&mut self, reply: &Reply, statement: &mut Statement) -> Step {
        let step = match self.input {
            Input::NewOrder { .. } => self.new_order(reply, statement),
            Input::Payment { .. } => self.payment(reply, statement),
            Input::OrderStatus { .. } => self.order_status(reply, statement),
            Input::Delivery { .. } => self.delivery(reply, statement),
            Input::StockLevel { .. } => self.stock_level(reply, statement),
        };
        if let Step::Done(Outcome::Committed | Outcome::RolledBack) = step {
            self.tally.count(self.w, &self.input, &self.tpcc);
        }
        step
    }
}
