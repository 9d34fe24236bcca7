//! Stock-Level: clause 2.8.2. The database joins, or in tpcc-mysql's manner the client asks item by
//! item.

use super::super::relation::{Reply, Statement};
use super::super::spec::Manner;
use super::super::transaction::{Outcome, Step};
use super::input::Input;
use super::schema::sql;
use super::terminal::Terminal;

/// Orders of a district that are looked at.
const ORDERS: i64 = 20;

/// Stages of the transaction, by its last statement.
mod stage {
    pub const NOTHING: u32 = 0;
    pub const BEGUN: u32 = 1;
    pub const NEXT: u32 = 2;
    pub const ITEMS: u32 = 3;
    pub const ITEM: u32 = 4;
    pub const COUNTED: u32 = 5;
    pub const COMMITTED: u32 = 6;
}

impl Terminal {
    pub(super) fn stock_level(&mut self, reply: &Reply, statement: &mut Statement) -> Step {
        let Input::StockLevel { d, threshold } = self.input else { return Step::Done(Outcome::Committed) };
        let (w, before) = (self.w, self.state.stage);
        self.state.stage = before + 1;
        match before {
            stage::NOTHING => return Step::Begin { writes: false },
            stage::BEGUN => statement.of(sql::NEXT_ORDER).int(w).int(d),
            stage::NEXT if reply.rows() == 0 => return Step::Done(Outcome::Missing("district")),
            stage::NEXT => {
                let next = reply.int(0, 0);
                let tool = self.tpcc.manner == Manner::TpccMysql;
                self.state.stage = if tool { stage::ITEMS } else { stage::COUNTED };
                let shape = if tool { sql::RECENT_ITEMS } else { sql::LOW_STOCK };
                let row = statement.of(shape).int(w).int(d).int(next - ORDERS).int(next - 1);
                if tool { row } else { row.int(w).int(threshold) }
            }
            stage::ITEMS => {
                self.state.list.clear();
                self.state.list.extend((0..reply.rows()).map(|row| reply.int(row, 0)));
                return self.ask_item(threshold, statement);
            }
            stage::ITEM => return self.ask_item(threshold, statement),
            stage::COUNTED => {
                self.state.stage = stage::COMMITTED;
                return Step::Commit;
            }
            _ => return Step::Done(Outcome::Committed),
        };
        Step::Run
    }

    fn ask_item(&mut self, threshold: i64, statement: &mut Statement) -> Step {
        let Some(&item) = self.state.list.get(self.state.at) else {
            self.state.stage = stage::COMMITTED;
            return Step::Commit;
        };
        self.state.at += 1;
        self.state.stage = stage::ITEM;
        statement.of(sql::IS_LOW).int(self.w).int(item).int(threshold);
        Step::Run
    }
}
