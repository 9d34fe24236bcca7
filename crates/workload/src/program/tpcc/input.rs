//! Input of a terminal's user: clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1 and 2.8.1, and the deck of clause
//! 5.2.4.2.

use super::super::keys::between;
use super::super::spec::Manner;
use super::names::Constants;
use super::{Sizes, Tpcc};
use tameshi_base::Random;

/// Identification of a customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Customer {
    /// By number.
    Number(i64),
    /// By the number of a last name, below 1000.
    Name(u64),
}

/// A line of a new order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The item; a number that no item has makes the order one that is taken back.
    pub item: i64,
    /// The warehouse that supplies it.
    pub supply: i64,
    /// Quantity.
    pub quantity: i64,
}

/// Input of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// New-Order.
    NewOrder {
        /// District.
        d: i64,
        /// Customer.
        c: i64,
        /// Number of entered `lines`.
        count: usize,
        /// The lines.
        lines: [Line; 15],
    },
    /// Payment.
    Payment {
        /// District.
        d: i64,
        /// The customer's warehouse.
        c_w: i64,
        /// The customer's district.
        c_d: i64,
        /// The customer.
        customer: Customer,
        /// Cents.
        amount: i64,
    },
    /// Order-Status.
    OrderStatus {
        /// The customer's district.
        d: i64,
        /// The customer.
        customer: Customer,
    },
    /// Delivery.
    Delivery {
        /// Carrier.
        carrier: i64,
    },
    /// Stock-Level.
    StockLevel {
        /// District.
        d: i64,
        /// Threshold.
        threshold: i64,
    },
}

/// Draws input for a home warehouse.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    pub(super) random: Random,
    pub(super) run: Constants,
    pub(super) sizes: Sizes,
    pub(super) warehouses: u64,
    as_the_tool: bool,
}

impl Draw {
    pub(super) fn new(tpcc: &Tpcc, run_seed: u64, random: Random) -> Self {
        let run = Constants::of_run(&tpcc.load, run_seed);
        let as_the_tool = tpcc.manner == Manner::TpccMysql;
        Self { random, run, sizes: tpcc.sizes, warehouses: tpcc.warehouses, as_the_tool }
    }

    pub(super) fn warehouse(&mut self) -> i64 {
        between(&mut self.random, 1, self.warehouses) as i64
    }

    pub(super) fn district(&mut self) -> i64 {
        between(&mut self.random, 1, self.sizes.districts) as i64
    }

    /// A warehouse other than `home`, where there is one.
    fn remote(&mut self, home: i64) -> i64 {
        if self.warehouses == 1 {
            return home;
        }
        let other = between(&mut self.random, 1, self.warehouses - 1) as i64;
        if other < home { other } else { other + 1 }
    }

    fn customer_number(&mut self) -> i64 {
        self.run.customer.draw(&mut self.random, 1, self.sizes.customers) as i64
    }

    /// The number of a last name. The tool gives C no value behind its first use: it is what a
    /// register happens to hold (docs/programs.md). So a name is drawn without regard to how many
    /// customers have it: three on average.
    fn last_name(&mut self) -> u64 {
        let last = self.sizes.last_names() - 1;
        if self.as_the_tool {
            between(&mut self.random, 0, last)
        } else {
            self.run.last.draw(&mut self.random, 0, last)
        }
    }

    /// Three of five times by last name.
    fn customer(&mut self) -> Customer {
        if self.random.below(100) < 60 {
            Customer::Name(self.last_name())
        } else {
            Customer::Number(self.customer_number())
        }
    }

    pub(super) fn new_order(&mut self, home: i64) -> Input {
        let (d, c) = (self.district(), self.customer_number());
        let count = between(&mut self.random, 5, 15) as usize;
        let taken_back = self.random.below(100) == 0;
        let mut lines = [Line::default(); 15];
        for line in &mut lines[..count] {
            let item = self.run.item.draw(&mut self.random, 1, self.sizes.items) as i64;
            let supply = if self.random.below(100) == 0 { self.remote(home) } else { home };
            *line = Line { item, supply, quantity: between(&mut self.random, 1, 10) as i64 };
        }
        if taken_back {
            lines[count - 1].item = self.sizes.items as i64 + 1;
        }
        // The tool takes rows of stock in one order in all transactions, against deadlocks.
        if self.as_the_tool {
            lines[..count].sort_by_key(|line| (line.supply, line.item));
        }
        Input::NewOrder { d, c, count, lines }
    }

    pub(super) fn payment(&mut self, home: i64) -> Input {
        let d = self.district();
        let at_home = self.random.below(100) < 85;
        let (c_w, c_d) = if at_home { (home, d) } else { (self.remote(home), self.district()) };
        let customer = self.customer();
        Input::Payment { d, c_w, c_d, customer, amount: between(&mut self.random, 100, 500_000) as i64 }
    }

    pub(super) fn order_status(&mut self) -> Input {
        Input::OrderStatus { d: self.district(), customer: self.customer() }
    }

    pub(super) fn delivery(&mut self) -> Input {
        Input::Delivery { carrier: between(&mut self.random, 1, 10) as i64 }
    }

    pub(super) fn stock_level(&mut self, d: i64) -> Input {
        Input::StockLevel { d, threshold: between(&mut self.random, 10, 20) as i64 }
    }
}

/// A deck of 23 cards: ten New-Orders, ten Payments, one of each other; shuffled anew when it is
/// used up.
///
/// Any card's place follows from its number alone, so that clients can draw from one deck together.
#[derive(Clone, Debug)]
pub struct Deck {
    seed: u64,
    name: String,
    number: u64,
    cards: [u8; Self::CARDS as usize],
}

impl Deck {
    /// Cards in a deck.
    pub const CARDS: u64 = 23;

    /// Decks of that name.
    pub fn new(seed: u64, name: String) -> Self {
        let mut deck = Self { seed, name, number: 0, cards: [0; Self::CARDS as usize] };
        deck.shuffle(0);
        deck
    }

    fn shuffle(&mut self, number: u64) {
        let mut random = Random::named(self.seed, &format!("{}/{number}", self.name));
        for (place, card) in self.cards.iter_mut().enumerate() {
            *card = match place {
                0..10 => 0,
                10..20 => 1,
                _ => place as u8 - 18,
            };
        }
        for left in (1..self.cards.len()).rev() {
            self.cards.swap(left, random.below(left as u64 + 1) as usize);
        }
        self.number = number;
    }

    /// The kind of transaction on card `card`, counted over all decks.
    pub fn kind(&mut self, card: u64) -> usize {
        if card / Self::CARDS != self.number {
            self.shuffle(card / Self::CARDS);
        }
        usize::from(self.cards[(card % Self::CARDS) as usize])
    }
}
