//! Delivery: clause 2.7.4. One transaction for all ten districts, or in tpcc-mysql's manner one for
//! each.

use super::super::relation::{Reply, Statement};
use super::super::spec::Manner;
use super::super::transaction::{Outcome, Step};
use super::input::Input;
use super::schema::sql;
use super::terminal::Terminal;

/// Stages of the transaction, by its last statement.
mod stage {
    pub const NOTHING: u32 = 0;
    pub const DISTRICT: u32 = 1;
    pub const OLDEST: u32 = 2;
    pub const DELETED: u32 = 3;
    pub const CUSTOMER: u32 = 4;
    pub const CARRIED: u32 = 5;
    pub const DELIVERED: u32 = 6;
    pub const AMOUNT: u32 = 7;
    pub const BOOKED: u32 = 8;
    pub const COMMITTED: u32 = 9;
}

impl Terminal {
    pub(super) fn delivery(&mut self, reply: &Reply, statement: &mut Statement) -> Step {
        let Input::Delivery { carrier } = self.input else { return Step::Done(Outcome::Committed) };
        let (w, d, o, before) = (self.w, self.state.at as i64 + 1, self.state.number, self.state.stage);
        self.state.stage = before + 1;
        match before {
            stage::NOTHING => return Step::Begin { writes: true },
            stage::DISTRICT => statement.of(sql::OLDEST).int(w).int(d),
            stage::OLDEST if reply.rows() == 0 => return self.nothing_to_deliver((w, d), statement),
            stage::OLDEST => {
                self.state.number = reply.int(0, 0);
                statement.of(sql::DELETE_NEW_ORDER).int(w).int(d).int(self.state.number)
            }
            // Another delivery took it: the row was read without its lock.
            stage::DELETED if reply.affected == 0 => return self.nothing_to_deliver((w, d), statement),
            stage::DELETED => statement.of(sql::ORDER_CUSTOMER).int(w).int(d).int(o),
            stage::CUSTOMER if reply.rows() == 0 => return Step::Done(Outcome::Missing("order to deliver")),
            stage::CUSTOMER => {
                self.state.discount = reply.int(0, 0);
                statement.of(sql::CARRY).int(carrier).int(w).int(d).int(o)
            }
            stage::CARRIED => statement.of(sql::DELIVER_LINES).int(self.date).int(w).int(d).int(o),
            stage::DELIVERED => statement.of(sql::AMOUNT).int(w).int(d).int(o),
            stage::AMOUNT => {
                let customer = self.state.discount;
                statement.of(sql::DELIVER_CUSTOMER).int(reply.int(0, 0)).int(w).int(d).int(customer)
            }
            stage::BOOKED => return self.next_district(statement),
            _ => return self.after_commit(),
        };
        Step::Run
    }

    /// Nothing undelivered. A server that reads without waiting for the lock may say so while
    /// another delivery takes the oldest, so it is asked once more before the district is skipped
    /// (clause 2.7.4.2).
    fn nothing_to_deliver(&mut self, (w, d): (i64, i64), statement: &mut Statement) -> Step {
        if !self.state.asked_twice {
            (self.state.asked_twice, self.state.stage) = (true, stage::OLDEST);
            statement.of(sql::OLDEST).int(w).int(d);
            return Step::Run;
        }
        self.tally.skipped_districts += 1;
        self.next_district(statement)
    }

    fn next_district(&mut self, statement: &mut Statement) -> Step {
        self.state.at += 1;
        self.state.asked_twice = false;
        let is_last = self.state.at as u64 == self.tpcc.sizes.districts;
        if is_last || self.tpcc.manner == Manner::TpccMysql {
            self.state.stage = stage::COMMITTED;
            return Step::Commit;
        }
        self.state.stage = stage::OLDEST;
        statement.of(sql::OLDEST).int(self.w).int(self.state.at as i64 + 1);
        Step::Run
    }

    fn after_commit(&mut self) -> Step {
        if self.state.at as u64 == self.tpcc.sizes.districts {
            return Step::Done(Outcome::Committed);
        }
        self.state.stage = stage::DISTRICT;
        Step::Begin { writes: true }
    }
}
