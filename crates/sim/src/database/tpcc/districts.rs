//! Districts and the names of their customers, as they were loaded and as transactions change them.

use crate::basics::prefetch::prefetch;
use tameshi_workload::program::tpcc::Tpcc;

/// Orders of a district whose items are known, a power of two: Stock-Level looks at the last
/// twenty.
pub(super) const RECENT: usize = 64;
/// Most lines of an order.
pub(super) const LINES: usize = 15;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    pub(super) customer: u16,
    /// 0: its number was taken, and the order does not exist yet.
    pub(super) lines: u8,
    /// The order will never exist: its transaction was rolled back.
    pub(super) gone: bool,
}

/// State of a district.
#[derive(Debug)]
pub(super) struct District {
    pub(super) next: i64,
    pub(super) oldest: i64,
    pub(super) orders: Vec<Order>,
    /// Latest order, by customer.
    pub(super) latest: Vec<u32>,
    pub(super) items: Box<[[u32; LINES]; RECENT]>,
    pub(super) items_known: bool,
}

/// A district's customers in the order of their last and first names.
#[derive(Debug)]
pub(super) struct Names {
    /// First place of each last name's customers, by the name's rank.
    pub(super) begin: Vec<u16>,
    pub(super) customers: Vec<u16>,
    pub(super) bad_credit: Vec<bool>,
}

impl District {
    pub(super) fn loaded(tpcc: &Tpcc, number: usize) -> Self {
        let customers = tpcc.sizes.customers as usize;
        let mut orders = Vec::with_capacity(customers * 2);
        let mut latest = vec![0; customers + 1];
        tpcc.loaded_orders(number as u64, |customer, lines| {
            orders.push(Order { customer: customer as u16, lines: lines as u8, gone: false });
            latest[customer as usize] = orders.len() as u32;
        });
        let next = customers as i64 + 1;
        let oldest = next - tpcc.sizes.undelivered() as i64;
        Self { next, oldest, orders, latest, items: Box::new([[0; LINES]; RECENT]), items_known: false }
    }

    /// Take the next number, for an order that follows later.
    pub(super) fn take_number(&mut self) -> i64 {
        self.orders.push(Order::default());
        self.next += 1;
        self.next - 1
    }

    /// Leave a taken number without an order.
    pub(super) fn give_up(&mut self, order: u32) {
        self.orders[order as usize - 1] = Order { gone: true, ..Order::default() };
    }

    /// Pass numbers without orders, which need no delivery.
    pub(super) fn pass_gaps(&mut self) {
        while self.orders.get((self.oldest - 1) as usize).is_some_and(|order| order.gone) {
            self.oldest += 1;
        }
    }

    /// Return whether the oldest undelivered order exists. A taken number without an order belongs
    /// to a transaction under way.
    pub(super) fn has_oldest(&self) -> bool {
        self.oldest < self.next && self.orders.get((self.oldest - 1) as usize).is_some_and(|order| order.lines > 0)
    }

    /// Prefetch for an order of a customer.
    pub(super) fn prefetch(&self, customer: i64) {
        prefetch(&self.latest, customer as usize);
        prefetch(&self.orders, self.orders.len().saturating_sub(1));
        prefetch(&self.items[..], self.next as usize % RECENT);
    }
}

impl Names {
    /// The customers of a loaded district. `ranks` has the rank of each last name, by its number.
    pub(super) fn loaded(tpcc: &Tpcc, number: usize, ranks: &[u16]) -> Self {
        let customers = tpcc.sizes.customers as usize;
        let mut bad_credit = vec![false; customers + 1];
        let (mut rows, mut begin) = (Vec::with_capacity(customers), vec![0; ranks.len() + 1]);
        tpcc.loaded_customers(number as u64, |customer| {
            let rank = ranks[customer.last as usize];
            rows.push((rank, u128::from_be_bytes(customer.first)));
            begin[usize::from(rank) + 1] += 1;
            bad_credit[rows.len()] = customer.bad_credit;
        });
        (1..begin.len()).for_each(|rank| begin[rank] += begin[rank - 1]);
        let (mut ends, mut customers) = (begin.clone(), vec![0; rows.len()]);
        for (c, &(rank, _)) in (1..).zip(&rows) {
            let end = &mut ends[usize::from(rank)];
            customers[usize::from(*end)] = c;
            *end += 1;
        }
        for of_name in begin.windows(2) {
            customers[usize::from(of_name[0])..usize::from(of_name[1])].sort_by_key(|&c| rows[usize::from(c) - 1].1);
        }
        Self { begin, customers, bad_credit }
    }
}
