//! TPC-C by its specification (revision 5.11), or in tpcc-mysql's manner with the specification's
//! rows.
//!
//! `docs/programs.md` names the clauses, and the differences of other tools.

mod audit;
mod delivery;
mod dispatch;
mod input;
mod names;
mod new_order;
mod order_status;
mod outline;
mod payment;
mod population;
pub mod schema;
mod stock_level;
mod terminal;

pub use audit::{Finding, LEAST_TRANSACTIONS, Tally, audit};
pub use input::{Customer, Deck, Input, Line};
pub use names::{Constants, NuRand, last_name};
pub use outline::LoadedCustomer;
pub use terminal::{DELIVERY, QueuedDelivery, Terminal};

use super::relation::Catalogue;
use super::spec::{self, Manner, Waits};
use serde::{Deserialize, Serialize};

/// Table sizes: the specification's, or smaller in tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Items, and stocks of a warehouse.
    pub items: u64,
    /// Districts of a warehouse; at most ten.
    pub districts: u64,
    /// Customers of a district, each with one order.
    pub customers: u64,
}

impl Sizes {
    /// Clause 1.2.1.
    pub const SPECIFICATION: Self = Self { items: 100_000, districts: 10, customers: 3000 };

    /// Orders of a district that are not delivered at first: 900 of 3000.
    pub fn undelivered(self) -> u64 {
        self.customers * 3 / 10
    }

    /// Different last names in a district.
    pub fn last_names(self) -> u64 {
        self.customers.min(1000)
    }
}

/// TPC-C on a number of warehouses: the part common to all its terminals.
#[derive(Clone, Debug)]
pub struct Tpcc {
    /// Tables, statement shapes, kinds of transactions.
    pub catalogue: Catalogue,
    /// Warehouses.
    pub warehouses: u64,
    /// Table sizes.
    pub sizes: Sizes,
    /// Rules that it follows.
    pub manner: Manner,
    /// Deliveries are queued, and carried out by [`Terminal::begin_delivery`].
    pub deferred: bool,
    waits: bool,
    data_seed: u64,
    load: Constants,
}

impl Tpcc {
    /// TPC-C as a study describes it; one warehouse where it doesn't say.
    pub fn new(spec: &spec::Tpcc, sizes: Sizes, data_seed: u64) -> Self {
        let warehouses = u64::from(spec.warehouses.unwrap_or(1).max(1));
        Self {
            catalogue: schema::catalogue(warehouses, sizes, spec.manner),
            warehouses,
            sizes,
            manner: spec.manner,
            deferred: spec.delivery == spec::Delivery::Deferred && spec.manner == Manner::Specification,
            waits: spec.waits == Waits::Specification,
            data_seed,
            load: Constants::of_load(data_seed),
        }
    }
}
