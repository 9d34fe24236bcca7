//! The audit of the mix: clauses 5.2.3 and 9.2.

use super::Tpcc;
use super::input::{Customer, Input};
use serde::Serialize;

/// Fewest transactions that the shares of an audit are judged by.
pub const LEAST_TRANSACTIONS: u64 = 1000;

/// Counts of entered input, over finished transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Transactions by kind.
    pub kinds: [u64; 5],
    /// New-Orders that were taken back.
    pub rolled_back: u64,
    /// Lines of New-Orders.
    pub lines: u64,
    /// Lines of New-Orders that another warehouse supplies.
    pub remote_lines: u64,
    /// New-Orders by their number of lines, from five to fifteen.
    pub by_lines: [u64; 11],
    /// Payments of a customer of another warehouse.
    pub remote_payments: u64,
    /// Payments of a customer given by last name.
    pub payments_by_name: u64,
    /// Order-Status of a customer given by last name.
    pub status_by_name: u64,
    /// Districts without an order to deliver.
    pub skipped_districts: u64,
}

impl Tally {
    pub(super) fn count(&mut self, w: i64, input: &Input, tpcc: &Tpcc) {
        match input {
            Input::NewOrder { count, lines, .. } => {
                self.kinds[0] += 1;
                self.lines += *count as u64;
                self.by_lines[count - 5] += 1;
                self.remote_lines += lines[..*count].iter().filter(|line| line.supply != w).count() as u64;
                self.rolled_back += u64::from(lines[count - 1].item > tpcc.sizes.items as i64);
            }
            Input::Payment { c_w, customer, .. } => {
                self.kinds[1] += 1;
                self.remote_payments += u64::from(*c_w != w);
                self.payments_by_name += u64::from(matches!(customer, Customer::Name(_)));
            }
            Input::OrderStatus { customer, .. } => {
                self.kinds[2] += 1;
                self.status_by_name += u64::from(matches!(customer, Customer::Name(_)));
            }
            Input::Delivery { .. } => self.kinds[3] += 1,
            Input::StockLevel { .. } => self.kinds[4] += 1,
        }
    }

    /// Adds another terminal's.
    pub fn merge(&mut self, other: &Self) {
        self.kinds.iter_mut().zip(other.kinds).for_each(|(mine, theirs)| *mine += theirs);
        self.by_lines.iter_mut().zip(other.by_lines).for_each(|(mine, theirs)| *mine += theirs);
        self.rolled_back += other.rolled_back;
        self.lines += other.lines;
        self.remote_lines += other.remote_lines;
        self.remote_payments += other.remote_payments;
        self.payments_by_name += other.payments_by_name;
        self.status_by_name += other.status_by_name;
        self.skipped_districts += other.skipped_districts;
    }
}

/// A share or mean of the mix, and where it must lie.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the finding.
    pub name: &'static str,
    /// The clause that says where it must lie.
    pub clause: &'static str,
    /// Value: percent, or lines of an order.
    pub value: f64,
    /// Lowest.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// True if it lies there; `None` where too little was done to judge it.
    pub holds: Option<bool>,
}

/// Judge the mix. Each bound is widened by three standard errors of the counts, so that a
/// short run does not fail by chance. With one warehouse no line is remote, and shares of
/// remote lines are left out.
pub fn audit(tally: &Tally, warehouses: u64) -> Vec<Finding> {
    let all: u64 = tally.kinds.iter().sum();
    let judged = |name, clause, value: f64, error: f64, (low, high): (f64, f64)| {
        let within = (low - 3.0 * error..=high + 3.0 * error).contains(&value);
        Finding { name, clause, value, low, high, holds: (all >= LEAST_TRANSACTIONS).then_some(within) }
    };
    let share = |name, clause, part: u64, whole: u64, bounds: (f64, f64)| {
        let value = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let error = if whole == 0 { 0.0 } else { (value * (1.0 - value) / whole as f64).sqrt() };
        judged(name, clause, value * 100.0, error * 100.0, bounds)
    };
    let [orders, payments, states, deliveries, levels] = tally.kinds;
    let mean = if orders == 0 { 0.0 } else { tally.lines as f64 / orders as f64 };
    let mut findings = vec![
        share("payment", "5.2.3", payments, all, (43.0, 100.0)),
        share("order_status", "5.2.3", states, all, (4.0, 100.0)),
        share("delivery", "5.2.3", deliveries, all, (4.0, 100.0)),
        share("stock_level", "5.2.3", levels, all, (4.0, 100.0)),
        share("rolled_back", "9.2.2.5.1", tally.rolled_back, orders, (0.9, 1.1)),
        // Five to fifteen, all alike: a variance of ten.
        judged("lines_per_order", "9.2.2.5.2", mean, (10.0 / orders.max(1) as f64).sqrt(), (9.5, 10.5)),
    ];
    if warehouses > 1 {
        findings.push(share("remote_lines", "9.2.2.5.3", tally.remote_lines, tally.lines, (0.95, 1.05)));
        findings.push(share("remote_payments", "9.2.2.5.4", tally.remote_payments, payments, (14.0, 16.0)));
    }
    findings.push(share("payments_by_name", "9.2.2.5.5", tally.payments_by_name, payments, (57.0, 63.0)));
    findings.push(share("order_status_by_name", "9.2.2.5.6", tally.status_by_name, states, (57.0, 63.0)));
    findings.push(share("skipped_districts", "2.7.4.2", tally.skipped_districts, deliveries * 10, (0.0, 1.0)));
    findings
}
