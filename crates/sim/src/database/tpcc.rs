//! TPC-C without its rows: the values that replies need to touch the same rows as a real server,
//! and the pages of those rows.
//!
//! An order keeps its customer, its number of lines and, for the last orders of a district, its
//! items. A customer keeps its rank among those of its last name, and whether its credit is bad.
//! The transactions look at no other value. A district is made from the data set's own seed when it
//! is first touched.
//!
//! An order's number comes from the district's counter, which a row lock keeps for one transaction
//! to its end. Without row locks a number is taken when it is read, as from a sequence. Then a
//! rollback leaves a gap, and a delivery stays if another one has gone on from there.

mod districts;
#[cfg(test)]
mod tests;
mod undo;
mod work;

use super::layout::{Layout, PlacedTable};
use super::plan::Plan;
use crate::basics::prefetch::prefetch;
use districts::{District, LINES, Names, Order, RECENT};
use std::sync::Arc;
use tameshi_workload::program::tpcc::schema::{sql, table};
use tameshi_workload::program::tpcc::{Sizes, Tpcc, last_name};
use tameshi_workload::program::{Reply, Statement, Value};
use work::Work;

pub(super) use undo::Undo;

/// Mean lines per order: the unit of line positions.
const MEAN_LINES: u64 = 10;

/// TPC-C's data set without its rows.
#[derive(Debug)]
pub(super) struct State {
    tpcc: Arc<Tpcc>,
    districts: Vec<Option<Box<District>>>,
    names: Vec<Option<Box<Names>>>,
    /// Last names in alphabetical order.
    last_names: Vec<u128>,
    /// Rank of each last name in that order, by its number.
    ranks: Vec<u16>,
    history: u64,
    seen: Vec<u32>,
    /// Statements lock rows.
    locked: bool,
}

/// Convert a name to a number in the order of texts: names have at most sixteen characters, and
/// zeros come before all of them.
fn in_order(name: &str) -> u128 {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    u128::from_be_bytes(bytes)
}

/// Number of groups of a table's rows.
pub(super) fn groups(tpcc: &Tpcc, number: usize) -> u64 {
    match number {
        table::CUSTOMER | table::NEW_ORDER | table::ORDERS | table::ORDER_LINE => {
            tpcc.warehouses * tpcc.sizes.districts
        }
        _ => 1,
    }
}

impl State {
    pub(super) fn new(tpcc: &Arc<Tpcc>, locked: bool) -> Self {
        let districts = (tpcc.warehouses * tpcc.sizes.districts) as usize;
        let name = |number| {
            let mut text = String::new();
            last_name(number, &mut text);
            (in_order(&text), number as usize)
        };
        let mut names: Vec<(u128, usize)> = (0..tpcc.sizes.last_names()).map(name).collect();
        names.sort_unstable();
        let mut ranks = vec![0; names.len()];
        names.iter().enumerate().for_each(|(rank, (_, number))| ranks[*number] = rank as u16);
        Self {
            tpcc: Arc::clone(tpcc),
            districts: (0..districts).map(|_| None).collect(),
            names: (0..districts).map(|_| None).collect(),
            last_names: names.into_iter().map(|(name, _)| name).collect(),
            ranks,
            history: 0,
            seen: Vec::new(),
            locked,
        }
    }

    /// Prefetch a district.
    pub(super) fn prefetch_district(&self, w: i64, d: i64) {
        self.districts[self.number(w, d)].iter().for_each(|district| prefetch(std::slice::from_ref(&**district), 0));
    }

    /// Prefetch the customer names of a district.
    pub(super) fn prefetch_names(&self, w: i64, d: i64) {
        self.names[self.number(w, d)].iter().for_each(|names| prefetch(std::slice::from_ref(&**names), 0));
    }

    fn number(&self, w: i64, d: i64) -> usize {
        ((w - 1) * self.tpcc.sizes.districts as i64 + d - 1) as usize
    }

    fn district(&mut self, number: usize) -> &mut District {
        let Self { districts, tpcc, .. } = self;
        districts[number].get_or_insert_with(|| Box::new(District::loaded(tpcc, number)))
    }

    fn order(&mut self, number: usize, o: i64) -> Order {
        self.district(number).orders.get((o - 1) as usize).copied().unwrap_or_default()
    }

    /// A district with the items of the last loaded orders.
    fn district_with_items(&mut self, number: usize) -> &mut District {
        let loaded = self.tpcc.sizes.customers;
        let (next, known) = {
            let district = self.district(number);
            (district.next, district.items_known)
        };
        // Once the last twenty orders are all new, no transaction looks at loaded ones.
        if !known && next <= loaded as i64 + 20 {
            let first = loaded.saturating_sub(20) as i64;
            let Self { districts, tpcc, .. } = self;
            if let Some(district) = &mut districts[number] {
                tpcc.loaded_lines(number as u64, |order, line, item| {
                    if order > first {
                        district.items[order as usize % RECENT][line as usize - 1] = item as u32;
                    }
                });
            }
        }
        let district = self.district(number);
        district.items_known = true;
        district
    }

    fn names(&mut self, number: usize) -> &Names {
        let Self { names, tpcc, ranks, .. } = self;
        names[number].get_or_insert_with(|| Box::new(Names::loaded(tpcc, number, ranks)))
    }

    /// Customers of a last name: their first place among the district's, and their number.
    fn named(&mut self, number: usize, last: &str) -> (usize, usize) {
        let rank = self.last_names.partition_point(|&name| name < in_order(last));
        let names = self.names(number);
        let (begin, end) = (usize::from(names.begin[rank]), usize::from(names.begin[rank + 1]));
        (begin, end - begin)
    }

    /// Plan a statement and answer it. Statements that request locks change nothing here, so they
    /// can be answered again once they have them.
    pub(super) fn statement(
        &mut self,
        layout: &mut Layout,
        statement: &Statement,
        (plan, reply): (&mut Plan, &mut Reply),
        undo: &mut Vec<Undo>,
    ) {
        let mut work = Work { layout, statement, plan, reply, undo };
        work.reply.restart(1);
        match statement.shape {
            0..=7 => self.new_order(&mut work),
            8..=18 => self.payment(&mut work),
            19..=21 => self.order_status(&mut work),
            22..=28 => self.delivery(&mut work),
            29..=32 => self.stock_level(&mut work),
            sql::NUMBERS_BY_NAME => self.by_name(&mut work),
            _ => {
                let at = self.stock(work.int(0), work.int(1));
                work.found(table::STOCK, at, true);
                work.reply.width = 3;
                work.reply.values.int(50).text("").text("");
            }
        }
    }

    fn stock(&self, w: i64, item: i64) -> u64 {
        (w - 1) as u64 * self.tpcc.sizes.items + (item - 1) as u64
    }

    /// The page of a stock.
    pub(super) fn stock_page(&self, layout: &Layout, w: i64, item: i64) -> u32 {
        layout.tables[table::STOCK].clustered.leaf(self.stock(w, item))
    }

    fn customer(&self, district: usize, c: i64) -> u64 {
        district as u64 * self.tpcc.sizes.customers + (c - 1) as u64
    }

    /// First and last place of a district's customers.
    fn customers(&self, district: usize) -> (u64, u64) {
        let (first, count) = (self.customer(district, 1), self.tpcc.sizes.customers);
        (first, first + count - 1)
    }

    /// The page of a customer.
    pub(super) fn customer_page(&self, layout: &Layout, (w, d): (i64, i64), c: i64) -> u32 {
        layout.tables[table::CUSTOMER].clustered.leaf(self.customer(self.number(w, d), c))
    }

    fn new_order(&mut self, work: &mut Work<'_>) {
        match work.statement.shape {
            sql::CUSTOMER_AND_WAREHOUSE => {
                let number = self.number(work.int(0), work.int(1));
                work.found(table::CUSTOMER, self.customer(number, work.int(2)), false);
                work.found(table::WAREHOUSE, (work.int(3) - 1) as u64, false);
                self.district(number).prefetch(work.int(2));
                work.reply.width = 4;
                work.reply.values.int(0).text("").text("").int(0);
            }
            sql::DISTRICT_LOCKED => {
                let number = self.number(work.int(0), work.int(1));
                work.found(table::DISTRICT, number as u64, true);
                work.reply.width = 2;
                let locked = self.locked;
                let district = self.district(number);
                let order = if locked { district.next } else { district.take_number() };
                if !locked {
                    work.undo.push(Undo::Taken { district: number as u32, order: order as u32 });
                }
                work.reply.values.int(order).int(0);
            }
            sql::DISTRICT_NEXT => {
                let number = self.number(work.int(1), work.int(2));
                if self.locked {
                    self.district(number).next = work.int(0);
                    work.undo.push(Undo::Next(number as u32));
                }
                work.changed(table::DISTRICT, number as u64, 8);
            }
            sql::INSERT_ORDER => self.insert_order(work),
            sql::INSERT_NEW_ORDER => {
                let number = self.number(work.int(2), work.int(1)) as u64;
                let at = self.undelivered(number, work.int(0));
                let bytes = work.layout.tables[table::NEW_ORDER].clustered.record;
                let page = work.layout.tables[table::NEW_ORDER].clustered.find(at, work.plan);
                work.plan.insert(page, false, bytes);
                work.reply.affected = 1;
            }
            sql::ITEM => {
                let item = work.int(0) as u64;
                let exists = item <= self.tpcc.sizes.items;
                work.found(table::ITEM, item.min(self.tpcc.sizes.items) - 1, false);
                work.reply.width = 3;
                if exists {
                    work.reply.values.int(100).text("").text("");
                }
            }
            sql::UPDATE_STOCK => {
                // The tool has an index by item alone.
                let (first, warehouses) = ((work.int(4) - 1) as u64, self.tpcc.warehouses);
                work.estimated(table::STOCK, (first * warehouses, (first + 1) * warehouses - 1));
                work.changed(table::STOCK, self.stock(work.int(3), work.int(4)), 32);
            }
            _ => {
                let (o, number) = (work.int(0), self.number(work.int(2), work.int(1)));
                let line = work.int(3);
                self.district(number).items[o as usize % RECENT][(line - 1) as usize % LINES] = work.int(4) as u32;
                let index = (o - 1) as u64 * MEAN_LINES + (line - 1) as u64;
                work.append(table::ORDER_LINE, number as u64, index);
                self.line_by_stock(work, self.stock(work.int(5), work.int(4)));
            }
        }
    }

    /// Enter an order line into the index by supplying warehouse and item, if there is one.
    fn line_by_stock(&self, work: &mut Work<'_>, stock: u64) {
        let PlacedTable { secondary, .. } = &work.layout.tables[table::ORDER_LINE];
        secondary.iter().for_each(|tree| tree.entry(self.among_lines(stock), work.plan));
    }

    /// Place of a stock's lines among all lines, in the order of supplying warehouse and item.
    fn among_lines(&self, stock: u64) -> u64 {
        let Sizes { districts, customers, items } = self.tpcc.sizes;
        stock * districts * customers * MEAN_LINES / items
    }

    /// Pages of that index for a line of a stock.
    pub(super) fn line_by_stock_pages(&self, layout: &Layout, w: i64, item: i64) -> impl Iterator<Item = u32> {
        let at = self.among_lines(self.stock(w, item));
        layout.tables[table::ORDER_LINE].secondary.iter().map(move |tree| tree.leaf(at))
    }

    fn insert_order(&mut self, work: &mut Work<'_>) {
        let (o, c, lines) = (work.int(0), work.int(3), work.int(6));
        let number = self.number(work.int(2), work.int(1));
        let locked = self.locked;
        let district = self.district(number);
        let (of, customer, order) =
            (number as u32, c as u16, Order { customer: c as u16, lines: lines as u8, gone: false });
        let latest = std::mem::replace(&mut district.latest[c as usize], o as u32);
        district.items[o as usize % RECENT] = [0; LINES];
        if locked {
            debug_assert_eq!(district.orders.len() as i64, o - 1);
            district.orders.push(order);
            work.undo.push(Undo::Order { district: of, customer, latest });
        } else {
            district.orders[(o - 1) as usize] = order;
            work.undo.push(Undo::Placed { district: of, customer, order: o as u32, latest });
        }
        work.append(table::ORDERS, number as u64, (o - 1) as u64);
        let at = self.customer(number, c);
        let PlacedTable { secondary, .. } = &work.layout.tables[table::ORDERS];
        secondary.iter().for_each(|tree| tree.entry(at, work.plan));
    }

    /// Position of an undelivered order's row: the queue circles over the pages of its district.
    fn undelivered(&self, district: u64, o: i64) -> u64 {
        let room = self.tpcc.sizes.undelivered().max(1);
        district * room + o as u64 % room
    }

    fn payment(&mut self, work: &mut Work<'_>) {
        let shape = work.statement.shape;
        match shape {
            sql::PAY_WAREHOUSE => work.changed_locked(table::WAREHOUSE, (work.int(1) - 1) as u64, 12),
            sql::WAREHOUSE | sql::DISTRICT => {
                let is_warehouse = shape == sql::WAREHOUSE;
                let number = if is_warehouse { 0 } else { self.number(work.int(0), work.int(1)) };
                let at = if is_warehouse { (work.int(0) - 1) as u64 } else { number as u64 };
                work.found(if is_warehouse { table::WAREHOUSE } else { table::DISTRICT }, at, false);
                work.reply.width = 6;
                (0..6).for_each(|_| {
                    work.reply.values.text("");
                });
            }
            sql::PAY_DISTRICT => {
                let number = self.number(work.int(1), work.int(2));
                work.changed_locked(table::DISTRICT, number as u64, 12);
            }
            sql::COUNT_BY_NAME | sql::BY_NAME => self.by_name(work),
            sql::CUSTOMER_LOCKED | sql::CUSTOMER_DATA => {
                let (number, c) = (self.number(work.int(0), work.int(1)), work.int(2));
                work.found(table::CUSTOMER, self.customer(number, c), shape == sql::CUSTOMER_LOCKED);
                if shape == sql::CUSTOMER_DATA {
                    work.reply.values.text("");
                    return;
                }
                let bad = self.names(number).bad_credit[c as usize];
                work.reply.width = 14;
                (0..14).for_each(|column| {
                    work.reply.values.text(if column == 10 && bad { "BC" } else { "" });
                });
            }
            sql::PAY_CUSTOMER | sql::PAY_BAD_CUSTOMER => {
                let from = if shape == sql::PAY_CUSTOMER { 2 } else { 3 };
                let number = self.number(work.int(from), work.int(from + 1));
                let bytes = if shape == sql::PAY_CUSTOMER { 32 } else { 32 + 800 };
                work.estimated(table::CUSTOMER, self.customers(number));
                work.changed_locked(table::CUSTOMER, self.customer(number, work.int(from + 2)), bytes);
            }
            _ => self.insert_history(work),
        }
    }

    fn insert_history(&mut self, work: &mut Work<'_>) {
        let Sizes { districts, customers, .. } = self.tpcc.sizes;
        let index = self.tpcc.warehouses * districts * customers + self.history;
        self.history += 1;
        work.append(table::HISTORY, 0, index);
        let customer = self.customer(self.number(work.int(2), work.int(1)), work.int(0));
        let end_of_district = (self.number(work.int(4), work.int(3)) as u64 + 1) * customers - 1;
        let PlacedTable { secondary, .. } = &work.layout.tables[table::HISTORY];
        secondary.iter().zip([customer, end_of_district]).for_each(|(tree, at)| tree.entry(at, work.plan));
    }

    fn by_name(&mut self, work: &mut Work<'_>) {
        let number = self.number(work.int(0), work.int(1));
        let Value::Text(last) = work.statement.parameters.get(2) else { return };
        let (begin, count) = self.named(number, last);
        let first = number as u64 * self.tpcc.sizes.customers + begin as u64;
        let PlacedTable { clustered, secondary, .. } = &work.layout.tables[table::CUSTOMER];
        let tree = &secondary[0];
        // Both indexes begin with the district.
        clustered.estimate(self.customers(number), work.plan);
        tree.estimate((first, first + count.max(1) as u64 - 1), work.plan);
        tree.descend(first, work.plan);
        let leaves = tree.leaf(first)..=tree.leaf(first + count.max(1) as u64 - 1);
        leaves.for_each(|leaf| work.plan.get(leaf));
        work.plan.rows += count as u64;
        if work.statement.shape == sql::COUNT_BY_NAME {
            work.reply.values.int(count as i64);
            return;
        }
        let numbers_only = work.statement.shape == sql::NUMBERS_BY_NAME;
        work.reply.width = if numbers_only { 1 } else { 4 };
        for at in begin..begin + count {
            let c = i64::from(self.names(number).customers[at]);
            let row = work.reply.values.int(c);
            if !numbers_only {
                row.int(0).text("").text("");
                work.found(table::CUSTOMER, self.customer(number, c), false);
            }
        }
    }

    fn order_status(&mut self, work: &mut Work<'_>) {
        let number = self.number(work.int(0), work.int(1));
        match work.statement.shape {
            sql::CUSTOMER_BALANCE => {
                work.found(table::CUSTOMER, self.customer(number, work.int(2)), false);
                work.reply.width = 4;
                work.reply.values.int(0).text("").text("").text("");
            }
            sql::LATEST_ORDER => {
                let c = work.int(2);
                let at = self.customer(number, c);
                let PlacedTable { clustered, secondary, .. } = &work.layout.tables[table::ORDERS];
                clustered.estimate_group(number as u64, work.plan);
                secondary[0].estimate((at, at), work.plan);
                secondary[0].find(at, work.plan);
                let latest = i64::from(self.district(number).latest[c as usize]);
                work.found_in(table::ORDERS, number as u64, (latest - 1) as u64);
                work.reply.width = 3;
                work.reply.values.int(latest).int(0).int(0);
            }
            _ => {
                let o = work.int(2);
                let lines = self.lines(work, number, o);
                work.reply.width = 5;
                (0..lines * 5).for_each(|_| {
                    work.reply.values.int(0);
                });
            }
        }
    }

    /// Get the pages of an order's lines. Return the number of lines.
    fn lines(&mut self, work: &mut Work<'_>, number: usize, o: i64) -> u64 {
        let lines = u64::from(self.order(number, o).lines);
        let first = (o - 1) as u64 * MEAN_LINES;
        let tree = &work.layout.tables[table::ORDER_LINE].clustered;
        tree.descend_in(number as u64, first, work.plan);
        let (from, to) = (tree.leaf_in(number as u64, first), tree.leaf_in(number as u64, first + lines.max(1) - 1));
        // The optimizer's estimate and the read.
        for _ in 0..2 {
            work.plan.get(from);
            if to != from {
                work.plan.get(to);
            }
        }
        work.plan.rows += lines;
        lines
    }

    fn delivery(&mut self, work: &mut Work<'_>) {
        let shape = work.statement.shape;
        // The parameters of updates come before the key.
        let from = usize::from(matches!(shape, sql::CARRY | sql::DELIVER_LINES | sql::DELIVER_CUSTOMER));
        let number = self.number(work.int(from), work.int(from + 1));
        match shape {
            sql::OLDEST => {
                let district = self.district(number);
                district.pass_gaps();
                let (oldest, is_there) = (district.oldest, district.has_oldest());
                work.layout.tables[table::NEW_ORDER].clustered.estimate_group(number as u64, work.plan);
                work.found(table::NEW_ORDER, self.undelivered(number as u64, oldest), false);
                work.plan.lock(table::NEW_ORDER, number as u64);
                if is_there {
                    work.reply.values.int(oldest);
                }
            }
            sql::DELETE_NEW_ORDER => {
                let o = work.int(2);
                let district = self.district(number);
                work.reply.affected = u64::from(district.oldest == o);
                if district.oldest == o {
                    district.oldest += 1;
                    work.undo.push(Undo::Delivered { district: number as u32, order: o as u32 });
                }
                let at = self.undelivered(number as u64, o);
                let page = work.layout.tables[table::NEW_ORDER].clustered.find(at, work.plan);
                work.plan.delete(page);
            }
            sql::ORDER_CUSTOMER => {
                let o = work.int(2);
                let customer = self.order(number, o).customer;
                work.found_in(table::ORDERS, number as u64, (o - 1) as u64);
                work.reply.values.int(i64::from(customer));
            }
            sql::CARRY => {
                work.estimated(table::ORDERS, self.customers(number));
                let page = work.found_in(table::ORDERS, number as u64, (work.int(3) - 1) as u64);
                work.plan.update(page, 8);
                work.reply.affected = 1;
            }
            sql::DELIVER_LINES => self.deliver_lines(work, number),
            sql::AMOUNT => {
                let o = work.int(2);
                self.lines(work, number, o);
                work.reply.values.int(0);
            }
            _ => {
                work.estimated(table::CUSTOMER, self.customers(number));
                work.changed_locked(table::CUSTOMER, self.customer(number, work.int(3)), 20);
            }
        }
    }

    fn deliver_lines(&mut self, work: &mut Work<'_>, number: usize) {
        let o = work.int(3);
        let lines = self.lines(work, number, o);
        work.plan.rows -= lines;
        let first = (o - 1) as u64 * MEAN_LINES;
        for index in first..first + lines {
            let page = work.layout.tables[table::ORDER_LINE].clustered.leaf_in(number as u64, index);
            work.plan.grow(table::ORDER_LINE, page, 16);
        }
        work.reply.affected = lines;
    }

    fn stock_level(&mut self, work: &mut Work<'_>) {
        let (w, shape) = (work.int(0), work.statement.shape);
        match shape {
            sql::NEXT_ORDER => {
                let number = self.number(w, work.int(1));
                work.found(table::DISTRICT, number as u64, false);
                work.reply.values.int(self.district(number).next);
            }
            sql::IS_LOW => {
                work.found(table::STOCK, self.stock(w, work.int(1)), false);
                work.reply.values.int(0);
            }
            _ => {
                let number = self.number(w, work.int(1));
                let (low, high) = (work.int(2).max(1), work.int(3));
                self.recent_items(work, number, low, high);
                if shape == sql::RECENT_ITEMS {
                    // The client requests these one by one.
                    for &item in &self.seen {
                        work.reply.values.int(i64::from(item));
                        work.plan.soon.push(self.stock_page(work.layout, w, i64::from(item)));
                    }
                    return;
                }
                for at in 0..self.seen.len() {
                    work.found(table::STOCK, self.stock(w, i64::from(self.seen[at])), false);
                }
                work.reply.values.int(0);
            }
        }
    }

    /// Collect the different items of the orders from `low` to `high`, and get the pages of their
    /// lines.
    fn recent_items(&mut self, work: &mut Work<'_>, number: usize, low: i64, high: i64) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        let district = self.district_with_items(number);
        let high = high.min(district.orders.len() as i64);
        for o in low.max(high - RECENT as i64 + 1)..=high {
            let lines = usize::from(district.orders[(o - 1) as usize].lines);
            seen.extend(district.items[o as usize % RECENT][..lines.min(LINES)].iter().filter(|item| **item > 0));
        }
        work.plan.rows += seen.len() as u64;
        seen.sort_unstable();
        seen.dedup();
        let tree = &work.layout.tables[table::ORDER_LINE].clustered;
        let index = |o: i64| (o - 1).max(0) as u64 * MEAN_LINES;
        tree.descend_in(number as u64, index(low), work.plan);
        let mut last = None;
        for o in low..=high {
            let page = tree.leaf_in(number as u64, index(o));
            if last != Some(page) {
                work.plan.get(page);
                last = Some(page);
            }
        }
        self.seen = seen;
    }

    /// Undo the changes of a transaction.
    pub(super) fn roll_back(&mut self, undo: &mut Vec<Undo>) {
        while let Some(change) = undo.pop() {
            match change {
                Undo::Next(district) => self.district(district as usize).next -= 1,
                Undo::Order { district, customer, latest } => {
                    let district = self.district(district as usize);
                    district.orders.pop();
                    district.latest[usize::from(customer)] = latest;
                }
                Undo::Taken { district, order } => self.district(district as usize).give_up(order),
                Undo::Placed { district, customer, order, latest } => {
                    let last = &mut self.district(district as usize).latest[usize::from(customer)];
                    *last = if *last == order { latest } else { *last };
                }
                Undo::Delivered { district, order } => {
                    let oldest = &mut self.district(district as usize).oldest;
                    *oldest -= i64::from(*oldest == i64::from(order) + 1);
                }
            }
        }
    }
}
