//! New-Order: clause 2.4.2.

use super::super::relation::{Reply, Statement};
use super::super::transaction::{Outcome, Step};
use super::input::{Input, Line};
use super::schema::sql;
use super::terminal::Terminal;

/// Stages of the transaction, by its last statement.
mod stage {
    pub const NOTHING: u32 = 0;
    pub const BEGUN: u32 = 1;
    pub const CUSTOMER: u32 = 2;
    pub const DISTRICT: u32 = 3;
    pub const NEXT: u32 = 4;
    pub const ORDER: u32 = 5;
    pub const LINE_DONE: u32 = 6;
    pub const ITEM: u32 = 7;
    pub const STOCK: u32 = 8;
    pub const STOCK_CHANGED: u32 = 9;
    pub const COMMITTED: u32 = 10;
    pub const ROLLED_BACK: u32 = 11;
}

impl Terminal {
    pub(super) fn new_order(&mut self, reply: &Reply, statement: &mut Statement) -> Step {
        let Input::NewOrder { d, c, count, lines } = self.input else { return Step::Done(Outcome::Committed) };
        let (w, before) = (self.w, self.state.stage);
        self.state.stage = before + 1;
        match before {
            stage::NOTHING => return Step::Begin { writes: true },
            stage::BEGUN => statement.of(sql::CUSTOMER_AND_WAREHOUSE).int(w).int(d).int(c).int(w),
            stage::CUSTOMER if reply.rows() == 0 => return Step::Done(Outcome::Missing("customer or warehouse")),
            stage::CUSTOMER => {
                (self.state.discount, self.state.tax) = (reply.int(0, 0), reply.int(0, 3));
                statement.of(sql::DISTRICT_LOCKED).int(w).int(d)
            }
            stage::DISTRICT if reply.rows() == 0 => return Step::Done(Outcome::Missing("district")),
            stage::DISTRICT => {
                self.state.number = reply.int(0, 0);
                self.state.tax += reply.int(0, 1);
                statement.of(sql::DISTRICT_NEXT).int(self.state.number + 1).int(w).int(d)
            }
            stage::NEXT => {
                let all_local = lines[..count].iter().all(|line| line.supply == w);
                let row = statement.of(sql::INSERT_ORDER).int(self.state.number).int(d).int(w).int(c).int(self.date);
                row.null().int(count as i64).int(i64::from(all_local))
            }
            stage::ORDER => statement.of(sql::INSERT_NEW_ORDER).int(self.state.number).int(d).int(w),
            stage::LINE_DONE if self.state.at == count => {
                self.state.stage = stage::COMMITTED;
                // amount × (1 − discount) × (1 + taxes), the two rates in ten-thousandths, rounded
                // to the cent.
                let rates = (10_000 - self.state.discount) * (10_000 + self.state.tax);
                let exact = i128::from(self.state.total) * i128::from(rates);
                self.state.total = ((exact + 50_000_000) / 100_000_000) as i64;
                return Step::Commit;
            }
            stage::LINE_DONE => statement.of(sql::ITEM).int(lines[self.state.at].item),
            stage::ITEM if reply.rows() == 0 => {
                self.state.stage = stage::ROLLED_BACK;
                return Step::Rollback;
            }
            stage::ITEM => {
                self.state.list.clear();
                self.state.list.push(reply.int(0, 0));
                let Line { item, supply, .. } = lines[self.state.at];
                statement.of(sql::STOCK + d as u16 - 1).int(supply).int(item)
            }
            stage::STOCK if reply.rows() == 0 => return Step::Done(Outcome::Missing("stock")),
            stage::STOCK => return self.change_stock(reply, lines[self.state.at], statement),
            stage::STOCK_CHANGED => return self.insert_line(d, lines[self.state.at], statement),
            stage::COMMITTED => return Step::Done(Outcome::Committed),
            _ => return Step::Done(Outcome::RolledBack),
        };
        Step::Run
    }

    /// A stock that would fall below ten is filled up by 91.
    fn change_stock(&mut self, reply: &Reply, line: Line, statement: &mut Statement) -> Step {
        let left = reply.int(0, 0) - line.quantity;
        let left = if left >= 10 { left } else { left + 91 };
        self.dist_info.clear();
        self.dist_info.push_str(reply.text(0, 2));
        self.state.total += self.state.list[0] * line.quantity;
        let remote = i64::from(line.supply != self.w);
        statement.of(sql::UPDATE_STOCK).int(left).int(line.quantity).int(remote).int(line.supply).int(line.item);
        Step::Run
    }

    fn insert_line(&mut self, d: i64, line: Line, statement: &mut Statement) -> Step {
        let amount = self.state.list[0] * line.quantity;
        let number = self.state.at as i64 + 1;
        let row = statement.of(sql::INSERT_LINE).int(self.state.number).int(d).int(self.w).int(number).int(line.item);
        row.int(line.supply).int(line.quantity).int(amount).text(&self.dist_info);
        self.state.at += 1;
        self.state.stage = stage::LINE_DONE;
        Step::Run
    }
}
