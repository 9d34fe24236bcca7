//! Order-Status: clause 2.6.2.

use super::super::relation::{Reply, Statement};
use super::super::transaction::{Outcome, Step};
use super::input::{Customer, Input};
use super::schema::sql;
use super::terminal::Terminal;

/// Stages of the transaction, by its last statement.
mod stage {
    pub const NOTHING: u32 = 0;
    pub const BEGUN: u32 = 1;
    pub const COUNTED: u32 = 2;
    pub const NAMED: u32 = 3;
    pub const CUSTOMER: u32 = 4;
    pub const ORDER: u32 = 5;
    pub const LINES: u32 = 6;
}

impl Terminal {
    pub(super) fn order_status(&mut self, reply: &Reply, statement: &mut Statement) -> Step {
        let Input::OrderStatus { d, .. } = self.input else { return Step::Done(Outcome::Committed) };
        let (w, before) = (self.w, self.state.stage);
        self.state.stage = before + 1;
        match (before, self.customer()) {
            (stage::NOTHING, _) => return Step::Begin { writes: false },
            (stage::BEGUN, Customer::Name(name)) => {
                if self.as_the_tool() {
                    return self.ask_name(sql::COUNT_BY_NAME, (w, d), name, statement);
                }
                self.state.stage = stage::NAMED;
                return self.ask_name(sql::BY_NAME, (w, d), name, statement);
            }
            (stage::BEGUN, Customer::Number(number)) => {
                (self.state.number, self.state.stage) = (number, stage::CUSTOMER);
                statement.of(sql::CUSTOMER_BALANCE).int(w).int(d).int(number)
            }
            (stage::COUNTED, Customer::Name(name)) => return self.ask_name(sql::BY_NAME, (w, d), name, statement),
            (stage::NAMED, _) => {
                let Some(row) = Self::middle(reply) else { return Step::Done(Outcome::Missing("customer by name")) };
                (self.state.number, self.state.stage) = (reply.int(row, 0), stage::ORDER);
                statement.of(sql::LATEST_ORDER).int(w).int(d).int(self.state.number)
            }
            (stage::CUSTOMER, _) if reply.rows() == 0 => return Step::Done(Outcome::Missing("customer")),
            (stage::CUSTOMER, _) => statement.of(sql::LATEST_ORDER).int(w).int(d).int(self.state.number),
            (stage::ORDER, _) if reply.rows() == 0 => return Step::Done(Outcome::Missing("order of a customer")),
            (stage::ORDER, _) => statement.of(sql::LINES).int(w).int(d).int(reply.int(0, 0)),
            (stage::LINES, _) => return Step::Commit,
            _ => return Step::Done(Outcome::Committed),
        };
        Step::Run
    }
}
