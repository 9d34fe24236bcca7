//! Payment: clause 2.5.2.

use super::super::relation::{Reply, Statement};
use super::super::transaction::{Outcome, Step};
use super::input::{Customer, Input};
use super::schema::sql;
use super::terminal::Terminal;
use std::fmt::Write;

/// Longest data of a customer, in characters.
const MOST_DATA: usize = 500;

/// Stages of the transaction, by its last statement.
mod stage {
    pub const NOTHING: u32 = 0;
    pub const BEGUN: u32 = 1;
    pub const WAREHOUSE_PAID: u32 = 2;
    pub const WAREHOUSE: u32 = 3;
    pub const DISTRICT_PAID: u32 = 4;
    pub const DISTRICT: u32 = 5;
    pub const COUNTED: u32 = 6;
    pub const NAMED: u32 = 7;
    pub const CUSTOMER: u32 = 8;
    pub const DATA: u32 = 9;
    pub const CUSTOMER_PAID: u32 = 10;
    pub const HISTORY: u32 = 11;
}

impl Terminal {
    pub(super) fn payment(&mut self, reply: &Reply, statement: &mut Statement) -> Step {
        let Input::Payment { d, c_w, c_d, customer, amount } = self.input else {
            return Step::Done(Outcome::Committed);
        };
        let (w, before) = (self.w, self.state.stage);
        self.state.stage = before + 1;
        match before {
            stage::NOTHING => return Step::Begin { writes: true },
            stage::BEGUN => statement.of(sql::PAY_WAREHOUSE).int(amount).int(w),
            stage::WAREHOUSE_PAID => statement.of(sql::WAREHOUSE).int(w),
            stage::WAREHOUSE if reply.rows() == 0 => return Step::Done(Outcome::Missing("warehouse")),
            stage::WAREHOUSE => {
                self.names.clear();
                self.names.push_str(reply.text(0, 0));
                statement.of(sql::PAY_DISTRICT).int(amount).int(w).int(d)
            }
            stage::DISTRICT_PAID => statement.of(sql::DISTRICT).int(w).int(d),
            stage::DISTRICT if reply.rows() == 0 => return Step::Done(Outcome::Missing("district")),
            stage::DISTRICT => {
                // H_DATA: the two names with four spaces between them.
                self.names.push_str("    ");
                self.names.push_str(reply.text(0, 0));
                let Customer::Name(name) = customer else { return self.lock_customer(customer, statement) };
                if self.as_the_tool() {
                    return self.ask_name(sql::COUNT_BY_NAME, (c_w, c_d), name, statement);
                }
                self.state.stage = stage::NAMED;
                return self.ask_name(sql::BY_NAME, (c_w, c_d), name, statement);
            }
            stage::COUNTED => {
                let Customer::Name(name) = customer else { return Step::Done(Outcome::Missing("name")) };
                return self.ask_name(sql::NUMBERS_BY_NAME, (c_w, c_d), name, statement);
            }
            stage::NAMED => {
                let Some(row) = Self::middle(reply) else { return Step::Done(Outcome::Missing("customer by name")) };
                return self.lock_customer(Customer::Number(reply.int(row, 0)), statement);
            }
            stage::CUSTOMER if reply.rows() == 0 => return Step::Done(Outcome::Missing("customer")),
            stage::CUSTOMER if reply.text(0, 10) == "BC" => {
                statement.of(sql::CUSTOMER_DATA).int(c_w).int(c_d).int(self.state.number)
            }
            stage::CUSTOMER => {
                self.state.stage = stage::CUSTOMER_PAID;
                let row = statement.of(sql::PAY_CUSTOMER).int(-amount).int(amount);
                row.int(c_w).int(c_d).int(self.state.number)
            }
            stage::DATA => return self.pay_bad_customer(reply, (d, c_w, c_d, amount), statement),
            stage::CUSTOMER_PAID => {
                let row = statement.of(sql::INSERT_HISTORY).int(self.state.number).int(c_d).int(c_w).int(d).int(w);
                row.int(self.date).int(amount).text(&self.names)
            }
            stage::HISTORY => return Step::Commit,
            _ => return Step::Done(Outcome::Committed),
        };
        Step::Run
    }

    fn lock_customer(&mut self, customer: Customer, statement: &mut Statement) -> Step {
        let (Input::Payment { c_w, c_d, .. }, Customer::Number(number)) = (self.input, customer) else {
            return Step::Done(Outcome::Missing("customer"));
        };
        self.state.number = number;
        self.state.stage = stage::CUSTOMER;
        statement.of(sql::CUSTOMER_LOCKED).int(c_w).int(c_d).int(number);
        Step::Run
    }

    /// The payment is written in front of the data of a customer of bad credit, which keeps its
    /// length.
    fn pay_bad_customer(
        &mut self,
        reply: &Reply,
        (d, c_w, c_d, amount): (i64, i64, i64, i64),
        statement: &mut Statement,
    ) -> Step {
        if reply.rows() == 0 {
            return Step::Done(Outcome::Missing("customer"));
        }
        let (c, w) = (self.state.number, self.w);
        let (before, row) = (reply.text(0, 0), statement.of(sql::PAY_BAD_CUSTOMER).int(-amount).int(amount));
        let row = row.write(|text| {
            let begin = text.len();
            write!(text, "{c} {c_d} {c_w} {d} {w} {}.{:02}|", amount / 100, amount % 100).expect("a string takes text");
            let rest = MOST_DATA - (text.len() - begin);
            text.extend(before.chars().take(rest));
        });
        row.int(c_w).int(c_d).int(c);
        Step::Run
    }
}
