//! The initial rows without the texts that fill them up: what tells customers, orders and lines
//! apart.
//!
//! It has streams of randomness of its own, so that who simulates a database can leave all other
//! values out.

use super::super::keys::{between, fill_alphanumeric};
use super::Tpcc;
use super::schema::table;
use tameshi_base::Random;

/// A customer as loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedCustomer {
    /// First name in ASCII, and zeros behind it.
    pub first: [u8; 16],
    /// Number of the last name.
    pub last: u64,
    /// True if the credit is bad.
    pub bad_credit: bool,
}

impl LoadedCustomer {
    /// First name.
    pub fn first_name(&self) -> &str {
        let length = self.first.iter().position(|&letter| letter == 0).unwrap_or(self.first.len());
        std::str::from_utf8(&self.first[..length]).expect("letters and digits")
    }
}

impl Tpcc {
    pub(super) fn load_random(&self, of: usize, part: u64) -> Random {
        Random::named(self.data_seed, &format!("tpcc/load/{}/{part}", self.catalogue.tables[of].name))
    }

    /// The customers of a district, counted over all warehouses from zero, in the order of their
    /// numbers.
    pub fn loaded_customers(&self, district: u64, mut each: impl FnMut(&LoadedCustomer)) {
        let (mut random, mut customer) = (self.load_random(table::CUSTOMER, district), LoadedCustomer::default());
        let names = self.sizes.last_names();
        for c in 1..=self.sizes.customers {
            let (name, rest) = customer.first.split_at_mut(between(&mut random, 8, 16) as usize);
            fill_alphanumeric(&mut random, name);
            rest.fill(0);
            customer.last = if c <= names { c - 1 } else { self.load.last.draw(&mut random, 0, names - 1) };
            customer.bad_credit = random.below(10) == 0;
            each(&customer);
        }
    }

    /// The orders of a district in the order of their numbers: whose each is, and its number of
    /// lines.
    pub fn loaded_orders(&self, district: u64, mut each: impl FnMut(i64, i64)) {
        let mut random = self.load_random(table::ORDERS, district);
        // Each customer has one order, in a random order.
        let mut customers: Vec<i64> = (1..=self.sizes.customers as i64).collect();
        for left in (1..customers.len()).rev() {
            customers.swap(left, random.below(left as u64 + 1) as usize);
        }
        customers.into_iter().zip(self.line_counts(district)).for_each(|(customer, lines)| each(customer, lines));
    }

    /// The lines of a district's orders: order, number and item.
    pub fn loaded_lines(&self, district: u64, mut each: impl FnMut(i64, i64, i64)) {
        let mut random = self.load_random(table::ORDER_LINE, district);
        for (order, lines) in (1..).zip(self.line_counts(district)) {
            (1..=lines).for_each(|line| each(order, line, between(&mut random, 1, self.sizes.items) as i64));
        }
    }

    /// The number of lines of each order of a district: orders and order lines must agree on it.
    fn line_counts(&self, district: u64) -> impl Iterator<Item = i64> {
        let mut random = Random::named(self.data_seed, &format!("tpcc/load/ol_cnt/{district}"));
        (0..self.sizes.customers).map(move |_| between(&mut random, 5, 15) as i64)
    }
}
