//! The initial rows: clause 4.3.3.1.

use super::super::keys::{alphanumeric, between, digits};
use super::super::relation::Values;
use super::super::{Chunk, parts};
use super::names::last_name;
use super::outline::LoadedCustomer;
use super::schema::table;
use super::{Sizes, Tpcc};
use tameshi_base::Random;

/// Dates, money and the numbers that a row of each table needs, for one part.
struct Part<'a> {
    sizes: Sizes,
    random: Random,
    date: i64,
    values: Values,
    row: &'a mut dyn FnMut(&Values),
}

/// Rows of one part of a table that is not split by district.
const ROWS: u64 = 10_000;

impl Tpcc {
    /// The parts of the data set: by district what belongs to one, by ten thousand the items and
    /// stocks.
    pub fn chunks(&self) -> Vec<Chunk> {
        let (sizes, districts) = (self.sizes, self.warehouses * self.sizes.districts);
        let mut chunks: Vec<Chunk> = parts(table::ITEM, sizes.items, ROWS).collect();
        chunks.extend(parts(table::WAREHOUSE, self.warehouses, ROWS));
        chunks.extend(parts(table::DISTRICT, districts, ROWS));
        let stock_parts = sizes.items.div_ceil(ROWS);
        chunks.extend((0..self.warehouses * stock_parts).map(|part| {
            let rows = ROWS.min(sizes.items - part % stock_parts * ROWS);
            Chunk { table: table::STOCK, part, rows }
        }));
        let by_district = [
            (table::CUSTOMER, sizes.customers),
            (table::HISTORY, sizes.customers),
            (table::ORDERS, sizes.customers),
            (table::NEW_ORDER, sizes.undelivered()),
            (table::ORDER_LINE, sizes.customers * 10),
        ];
        for (table, rows) in by_district {
            chunks.extend((0..districts).map(|part| Chunk { table, part, rows }));
        }
        chunks
    }

    /// Makes the rows of a part.
    pub(in super::super) fn populate(&self, chunk: Chunk, date: i64, row: &mut dyn FnMut(&Values)) {
        // A stream other than that of `outline` for the same rows.
        let name = format!("tpcc/load/{}/{}/values", self.catalogue.tables[chunk.table].name, chunk.part);
        let random = Random::named(self.data_seed, &name);
        let mut part = Part { sizes: self.sizes, random, date, values: Values::default(), row };
        let from = chunk.part * ROWS;
        let (w, d) = ((chunk.part / self.sizes.districts + 1) as i64, (chunk.part % self.sizes.districts + 1) as i64);
        match chunk.table {
            table::ITEM => (from..from + chunk.rows).for_each(|i| part.item(i as i64 + 1)),
            table::WAREHOUSE => (from..from + chunk.rows).for_each(|w| part.warehouse(w as i64 + 1)),
            table::DISTRICT => (from..from + chunk.rows).for_each(|district| {
                let (w, d) = (district / self.sizes.districts, district % self.sizes.districts);
                part.district(w as i64 + 1, d as i64 + 1);
            }),
            table::STOCK => {
                let of_warehouse = self.sizes.items.div_ceil(ROWS);
                let (w, from) = (chunk.part / of_warehouse, chunk.part % of_warehouse * ROWS);
                (from..from + chunk.rows).for_each(|i| part.stock(w as i64 + 1, i as i64 + 1));
            }
            table::CUSTOMER => {
                let mut c = 0;
                self.loaded_customers(chunk.part, |known| {
                    c += 1;
                    part.customer(w, d, c, known);
                });
            }
            table::HISTORY => (1..=self.sizes.customers).for_each(|c| part.history(w, d, c as i64)),
            table::NEW_ORDER => {
                let first = self.sizes.customers - self.sizes.undelivered() + 1;
                (first..=self.sizes.customers).for_each(|o| {
                    part.emit(|row| {
                        row.int(o as i64).int(d).int(w);
                    })
                });
            }
            table::ORDERS => self.orders(&mut part, chunk.part, w, d),
            _ => self.order_lines(&mut part, chunk.part, w, d),
        }
    }

    fn orders(&self, part: &mut Part<'_>, district: u64, w: i64, d: i64) {
        let delivered = self.sizes.customers - self.sizes.undelivered();
        let mut o = 0;
        self.loaded_orders(district, |c, lines| {
            o += 1;
            let carrier = between(&mut part.random, 1, 10) as i64;
            let date = part.date;
            part.emit(|row| {
                row.int(o).int(d).int(w).int(c).int(date);
                if o as u64 <= delivered {
                    row.int(carrier)
                } else {
                    row.null()
                };
                row.int(lines).int(1);
            });
        });
    }

    fn order_lines(&self, part: &mut Part<'_>, district: u64, w: i64, d: i64) {
        let delivered = self.sizes.customers - self.sizes.undelivered();
        self.loaded_lines(district, |o, number, item| {
            let is_delivered = o as u64 <= delivered;
            let amount = if is_delivered { 0 } else { between(&mut part.random, 1, 999_999) as i64 };
            let date = part.date;
            let Part { random, values, row, .. } = &mut *part;
            values.clear();
            values.int(o).int(d).int(w).int(number).int(item).int(w);
            if is_delivered {
                values.int(date)
            } else {
                values.null()
            };
            values.int(5).int(amount).write(|text| alphanumeric(random, 24, text));
            row(values);
        });
    }
}

impl Part<'_> {
    fn emit(&mut self, fill: impl FnOnce(&mut Values)) {
        self.values.clear();
        fill(&mut self.values);
        (self.row)(&self.values);
    }

    /// Random letters and digits of a random length.
    fn letters(&mut self, low: u64, high: u64) {
        let Self { random, values, .. } = self;
        let length = between(random, low, high);
        values.write(|text| alphanumeric(random, length, text));
    }

    /// Random letters and digits; every tenth text has ORIGINAL somewhere in it.
    fn data(&mut self) {
        let Self { random, values, .. } = self;
        let length = between(random, 26, 50);
        let original = (random.below(10) == 0).then(|| random.below(length - 7));
        values.write(|text| match original {
            Some(before) => {
                alphanumeric(random, before, text);
                text.push_str("ORIGINAL");
                alphanumeric(random, length - 8 - before, text);
            }
            None => alphanumeric(random, length, text),
        });
    }

    fn address(&mut self) {
        (0..3).for_each(|_| self.letters(10, 20));
        self.letters(2, 2);
        let Self { random, values, .. } = self;
        values.write(|text| {
            digits(random, 4, text);
            text.push_str("11111");
        });
    }

    fn item(&mut self, i: i64) {
        self.values.clear();
        let (image, price) = (between(&mut self.random, 1, 10_000), between(&mut self.random, 100, 10_000));
        self.values.int(i).int(image as i64);
        self.letters(14, 24);
        self.values.int(price as i64);
        self.data();
        (self.row)(&self.values);
    }

    fn warehouse(&mut self, w: i64) {
        self.values.clear();
        self.values.int(w);
        self.letters(6, 10);
        self.address();
        let tax = between(&mut self.random, 0, 2000) as i64;
        let taken = (self.sizes.districts * self.sizes.customers * 1000) as i64;
        self.values.int(tax).int(taken);
        (self.row)(&self.values);
    }

    fn district(&mut self, w: i64, d: i64) {
        self.values.clear();
        self.values.int(d).int(w);
        self.letters(6, 10);
        self.address();
        let tax = between(&mut self.random, 0, 2000) as i64;
        self.values.int(tax).int((self.sizes.customers * 1000) as i64).int(self.sizes.customers as i64 + 1);
        (self.row)(&self.values);
    }

    fn stock(&mut self, w: i64, i: i64) {
        self.values.clear();
        let quantity = between(&mut self.random, 10, 100) as i64;
        self.values.int(i).int(w).int(quantity);
        (0..10).for_each(|_| self.letters(24, 24));
        self.values.int(0).int(0).int(0);
        self.data();
        (self.row)(&self.values);
    }

    fn customer(&mut self, w: i64, d: i64, c: i64, known: &LoadedCustomer) {
        self.values.clear();
        self.values.int(c).int(d).int(w).text(known.first_name()).text("OE");
        self.values.write(|text| last_name(known.last, text));
        self.address();
        let Self { random, values, .. } = self;
        values.write(|text| digits(random, 16, text)).int(self.date);
        values.text(if known.bad_credit { "BC" } else { "GC" }).int(5_000_000);
        values.int(between(random, 0, 5000) as i64).int(-1000).int(1000).int(1).int(0);
        self.letters(300, 500);
        (self.row)(&self.values);
    }

    fn history(&mut self, w: i64, d: i64, c: i64) {
        self.values.clear();
        self.values.int(c).int(d).int(w).int(d).int(w).int(self.date).int(1000);
        self.letters(12, 24);
        (self.row)(&self.values);
    }
}
