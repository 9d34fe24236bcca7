//! Tables and statements of TPC-C: clause 1.3, and the statements of clause 2. tidy: table

use super::super::relation::{
    Bounds, By, Catalogue, Column, CountJoined, Kind, Limit, Lookup, Read, Set, Shape, Table, Take, column, nullable,
    text,
};
use super::super::spec::Manner;
use super::Sizes;

/// The numbers of the tables in the catalogue.
pub mod table {
    /// WAREHOUSE.
    pub const WAREHOUSE: usize = 0;
    /// DISTRICT.
    pub const DISTRICT: usize = 1;
    /// CUSTOMER.
    pub const CUSTOMER: usize = 2;
    /// HISTORY.
    pub const HISTORY: usize = 3;
    /// NEW-ORDER.
    pub const NEW_ORDER: usize = 4;
    /// ORDER, called `orders`.
    pub const ORDERS: usize = 5;
    /// ORDER-LINE.
    pub const ORDER_LINE: usize = 6;
    /// ITEM.
    pub const ITEM: usize = 7;
    /// STOCK.
    pub const STOCK: usize = 8;
}

/// The numbers of the statement shapes in the catalogue.
pub mod sql {
    /// Customer and warehouse of a New-Order.
    pub const CUSTOMER_AND_WAREHOUSE: u16 = 0;
    /// A district's tax and next order number, locked.
    pub const DISTRICT_LOCKED: u16 = 1;
    /// Raises a district's next order number.
    pub const DISTRICT_NEXT: u16 = 2;
    /// A new order.
    pub const INSERT_ORDER: u16 = 3;
    /// A new entry among the undelivered.
    pub const INSERT_NEW_ORDER: u16 = 4;
    /// An item.
    pub const ITEM: u16 = 5;
    /// Changes a stock.
    pub const UPDATE_STOCK: u16 = 6;
    /// A new order line.
    pub const INSERT_LINE: u16 = 7;
    /// Adds to a warehouse's takings.
    pub const PAY_WAREHOUSE: u16 = 8;
    /// A warehouse's name and address.
    pub const WAREHOUSE: u16 = 9;
    /// Adds to a district's takings.
    pub const PAY_DISTRICT: u16 = 10;
    /// A district's name and address.
    pub const DISTRICT: u16 = 11;
    /// Number of customers with a last name.
    pub const COUNT_BY_NAME: u16 = 12;
    /// The customers of a last name by first name: number, balance, names.
    pub const BY_NAME: u16 = 13;
    /// A customer, locked, without the data.
    pub const CUSTOMER_LOCKED: u16 = 14;
    /// A customer's data.
    pub const CUSTOMER_DATA: u16 = 15;
    /// Books a payment of a customer.
    pub const PAY_CUSTOMER: u16 = 16;
    /// Books a payment of a customer of bad credit.
    pub const PAY_BAD_CUSTOMER: u16 = 17;
    /// A new payment.
    pub const INSERT_HISTORY: u16 = 18;
    /// A customer's balance and names.
    pub const CUSTOMER_BALANCE: u16 = 19;
    /// A customer's latest order.
    pub const LATEST_ORDER: u16 = 20;
    /// The lines of an order.
    pub const LINES: u16 = 21;
    /// The oldest undelivered order, locked.
    pub const OLDEST: u16 = 22;
    /// Takes an order from the undelivered.
    pub const DELETE_NEW_ORDER: u16 = 23;
    /// Customer of an order.
    pub const ORDER_CUSTOMER: u16 = 24;
    /// Gives an order its carrier.
    pub const CARRY: u16 = 25;
    /// Gives an order's lines their delivery date.
    pub const DELIVER_LINES: u16 = 26;
    /// Amount of an order.
    pub const AMOUNT: u16 = 27;
    /// Books a delivery to a customer.
    pub const DELIVER_CUSTOMER: u16 = 28;
    /// A district's next order number.
    pub const NEXT_ORDER: u16 = 29;
    /// Items of the last orders that are low in stock, counted by the database.
    pub const LOW_STOCK: u16 = 30;
    /// Items of the last orders.
    pub const RECENT_ITEMS: u16 = 31;
    /// True if an item's stock is low.
    pub const IS_LOW: u16 = 32;
    /// A stock, locked, with the text of the first district; the next nine are those of the other
    /// districts.
    pub const STOCK: u16 = 33;
    /// The numbers of the customers of a last name by first name, which tpcc-mysql's Payment asks
    /// for: the index of names holds them all.
    pub const NUMBERS_BY_NAME: u16 = 43;
}

const MONEY: Kind = Kind::Decimal { digits: 12, scale: 2 };
const PRICE: Kind = Kind::Decimal { digits: 5, scale: 2 };
const AMOUNT: Kind = Kind::Decimal { digits: 6, scale: 2 };
const TAX: Kind = Kind::Decimal { digits: 4, scale: 4 };
const LAST_NAME: [&str; 3] = ["c_w_id", "c_d_id", "c_last"];
const DISTRICTS: [&str; 10] = [
    "s_dist_01",
    "s_dist_02",
    "s_dist_03",
    "s_dist_04",
    "s_dist_05",
    "s_dist_06",
    "s_dist_07",
    "s_dist_08",
    "s_dist_09",
    "s_dist_10",
];

/// The catalogue for a number of warehouses.
pub(super) fn catalogue(warehouses: u64, sizes: Sizes, manner: Manner) -> Catalogue {
    let mut tables = tables(warehouses, sizes);
    if manner == Manner::TpccMysql {
        tables = tables.into_iter().map(with_foreign_key_indexes).collect();
    }
    let shapes = shapes(&tables);
    Catalogue { tables, shapes, transactions: vec!["new_order", "payment", "order_status", "delivery", "stock_level"] }
}

fn address(names: [&'static str; 5]) -> [Column; 5] {
    let [street_1, street_2, city, state, zip] = names;
    let long = |name| text(name, Kind::Text(20), 15);
    [long(street_1), long(street_2), long(city), column(state, Kind::Char(2)), column(zip, Kind::Char(9))]
}

fn int(name: &'static str) -> Column {
    column(name, Kind::Int)
}

fn tables(warehouses: u64, sizes: Sizes) -> Vec<Table> {
    let districts = warehouses * sizes.districts;
    let customers = districts * sizes.customers;
    let mut warehouse = vec![int("w_id"), text("w_name", Kind::Text(10), 8)];
    warehouse.extend(address(["w_street_1", "w_street_2", "w_city", "w_state", "w_zip"]));
    warehouse.extend([column("w_tax", TAX), column("w_ytd", MONEY)]);
    let mut district = vec![int("d_id"), int("d_w_id"), text("d_name", Kind::Text(10), 8)];
    district.extend(address(["d_street_1", "d_street_2", "d_city", "d_state", "d_zip"]));
    district.extend([column("d_tax", TAX), column("d_ytd", MONEY), int("d_next_o_id")]);
    let customer = Table::new("customer", customer(), &["c_w_id", "c_d_id", "c_id"], customers)
        .with_index("customer_name", &["c_w_id", "c_d_id", "c_last", "c_first"]);
    let history = vec![
        int("h_c_id"),
        int("h_c_d_id"),
        int("h_c_w_id"),
        int("h_d_id"),
        int("h_w_id"),
        column("h_date", Kind::Time),
        column("h_amount", AMOUNT),
        text("h_data", Kind::Text(24), 18),
    ];
    let new_order = vec![int("no_o_id"), int("no_d_id"), int("no_w_id")];
    let orders = vec![
        int("o_id"),
        int("o_d_id"),
        int("o_w_id"),
        int("o_c_id"),
        column("o_entry_d", Kind::Time),
        nullable(int("o_carrier_id")),
        int("o_ol_cnt"),
        int("o_all_local"),
    ];
    let line = vec![
        int("ol_o_id"),
        int("ol_d_id"),
        int("ol_w_id"),
        int("ol_number"),
        int("ol_i_id"),
        int("ol_supply_w_id"),
        nullable(column("ol_delivery_d", Kind::Time)),
        int("ol_quantity"),
        column("ol_amount", AMOUNT),
        column("ol_dist_info", Kind::Char(24)),
    ];
    let item = vec![
        int("i_id"),
        int("i_im_id"),
        text("i_name", Kind::Text(24), 19),
        column("i_price", PRICE),
        text("i_data", Kind::Text(50), 38),
    ];
    let mut stock = vec![int("s_i_id"), int("s_w_id"), int("s_quantity")];
    stock.extend(DISTRICTS.map(|name| column(name, Kind::Char(24))));
    stock.extend([int("s_ytd"), int("s_order_cnt"), int("s_remote_cnt"), text("s_data", Kind::Text(50), 38)]);
    vec![
        Table::new("warehouse", warehouse, &["w_id"], warehouses),
        Table::new("district", district, &["d_w_id", "d_id"], districts),
        customer,
        Table::new("history", history, &[], customers),
        Table::new("new_order", new_order, &["no_w_id", "no_d_id", "no_o_id"], districts * sizes.undelivered()),
        Table::new("orders", orders, &["o_w_id", "o_d_id", "o_id"], customers)
            .with_index("orders_customer", &["o_w_id", "o_d_id", "o_c_id", "o_id"]),
        Table::new("order_line", line, &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"], customers * 10),
        Table::new("item", item, &["i_id"], sizes.items),
        Table::new("stock", stock, &["s_w_id", "s_i_id"], warehouses * sizes.items),
    ]
}

/// The indexes that tpcc-mysql's `add_fkey_idx.sql` makes, itself or by a foreign key that no other
/// index serves.
fn with_foreign_key_indexes(table: Table) -> Table {
    match table.name.as_str() {
        "history" => table
            .with_index("fkey_history_1", &["h_c_w_id", "h_c_d_id", "h_c_id"])
            .with_index("fkey_history_2", &["h_w_id", "h_d_id"]),
        "order_line" => table.with_index("fkey_order_line_2", &["ol_supply_w_id", "ol_i_id"]),
        "stock" => table.with_index("fkey_stock_2", &["s_i_id"]),
        _ => table,
    }
}

fn customer() -> Vec<Column> {
    let mut customer = vec![
        int("c_id"),
        int("c_d_id"),
        int("c_w_id"),
        text("c_first", Kind::Text(16), 12),
        column("c_middle", Kind::Char(2)),
        text("c_last", Kind::Text(16), 12),
    ];
    customer.extend(address(["c_street_1", "c_street_2", "c_city", "c_state", "c_zip"]));
    customer.extend([
        column("c_phone", Kind::Char(16)),
        column("c_since", Kind::Time),
        column("c_credit", Kind::Char(2)),
        column("c_credit_lim", MONEY),
        column("c_discount", TAX),
        column("c_balance", MONEY),
        column("c_ytd_payment", MONEY),
        int("c_payment_cnt"),
        int("c_delivery_cnt"),
        text("c_data", Kind::Text(500), 400),
    ]);
    customer
}

/// Makes shapes of column names.
struct Make<'a>(&'a [Table]);

impl Make<'_> {
    fn get(&self, lookups: &[(usize, &[&str])], lock: bool) -> Shape {
        let lookups = lookups
            .iter()
            .map(|(table, names)| Lookup { table: *table, columns: self.0[*table].columns(names) })
            .collect();
        Shape::Get { lookups, lock }
    }

    fn read(&self, table: usize, equal: &[&str], take: Take) -> Read {
        let equal = self.0[table].columns(equal);
        Read { table, equal, bounds: None, below: None, take, order: vec![], limit: Limit::None, lock: false }
    }

    fn columns(&self, table: usize, names: &[&str]) -> Take {
        Take::Columns(self.0[table].columns(names))
    }

    fn by(&self, table: usize, name: &str, descending: bool) -> Vec<By> {
        vec![By { column: self.0[table].column(name), descending }]
    }

    fn insert(&self, table: usize, columns: &[&str]) -> Shape {
        Shape::Insert { table, columns: self.0[table].columns(columns) }
    }

    fn update(&self, table: usize, set: &[Set], equal: &[&str]) -> Shape {
        Shape::Update { table, set: set.to_vec(), equal: self.0[table].columns(equal) }
    }

    fn to(&self, table: usize, name: &str) -> Set {
        Set::To(self.0[table].column(name))
    }

    fn add(&self, table: usize, name: &str) -> Set {
        Set::Add(self.0[table].column(name))
    }

    fn add_one(&self, table: usize, name: &str) -> Set {
        Set::AddFixed(self.0[table].column(name), 1)
    }
}

fn shapes(tables: &[Table]) -> Vec<Shape> {
    let make = Make(tables);
    let mut shapes = new_order(&make);
    shapes.extend(payment(&make));
    shapes.extend(order_status(&make));
    shapes.extend(delivery(&make));
    shapes.extend(stock_level(&make));
    shapes.extend(DISTRICTS.map(|name| make.get(&[(table::STOCK, &["s_quantity", "s_data", name])], true)));
    shapes.push(by_name(&make, &["c_id"]));
    shapes
}

/// The customers of a last name by first name.
fn by_name(make: &Make<'_>, columns: &[&str]) -> Shape {
    let read = make.read(table::CUSTOMER, &LAST_NAME, make.columns(table::CUSTOMER, columns));
    Shape::Read(Read { order: make.by(table::CUSTOMER, "c_first", false), ..read })
}

fn new_order(make: &Make<'_>) -> Vec<Shape> {
    use table::*;
    let to = |name| make.to(STOCK, name);
    let orders = ["o_id", "o_d_id", "o_w_id", "o_c_id", "o_entry_d", "o_carrier_id", "o_ol_cnt", "o_all_local"];
    let line = [
        "ol_o_id",
        "ol_d_id",
        "ol_w_id",
        "ol_number",
        "ol_i_id",
        "ol_supply_w_id",
        "ol_quantity",
        "ol_amount",
        "ol_dist_info",
    ];
    let stock = [
        to("s_quantity"),
        make.add(STOCK, "s_ytd"),
        make.add_one(STOCK, "s_order_cnt"),
        make.add(STOCK, "s_remote_cnt"),
    ];
    vec![
        make.get(&[(CUSTOMER, &["c_discount", "c_last", "c_credit"]), (WAREHOUSE, &["w_tax"])], false),
        make.get(&[(DISTRICT, &["d_next_o_id", "d_tax"])], true),
        make.update(DISTRICT, &[make.to(DISTRICT, "d_next_o_id")], &["d_w_id", "d_id"]),
        make.insert(ORDERS, &orders),
        make.insert(NEW_ORDER, &["no_o_id", "no_d_id", "no_w_id"]),
        make.get(&[(ITEM, &["i_price", "i_name", "i_data"])], false),
        make.update(STOCK, &stock, &["s_w_id", "s_i_id"]),
        make.insert(ORDER_LINE, &line),
    ]
}

fn payment(make: &Make<'_>) -> Vec<Shape> {
    use table::*;
    let key = ["c_w_id", "c_d_id", "c_id"];
    let customer = [
        "c_first",
        "c_middle",
        "c_last",
        "c_street_1",
        "c_street_2",
        "c_city",
        "c_state",
        "c_zip",
        "c_phone",
        "c_since",
        "c_credit",
        "c_credit_lim",
        "c_discount",
        "c_balance",
    ];
    let pay =
        [make.add(CUSTOMER, "c_balance"), make.add(CUSTOMER, "c_ytd_payment"), make.add_one(CUSTOMER, "c_payment_cnt")];
    let [balance, payment, count] = pay;
    let history = ["h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount", "h_data"];
    let warehouse = ["w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip"];
    let district = ["d_name", "d_street_1", "d_street_2", "d_city", "d_state", "d_zip"];
    vec![
        make.update(WAREHOUSE, &[make.add(WAREHOUSE, "w_ytd")], &["w_id"]),
        make.get(&[(WAREHOUSE, &warehouse)], false),
        make.update(DISTRICT, &[make.add(DISTRICT, "d_ytd")], &["d_w_id", "d_id"]),
        make.get(&[(DISTRICT, &district)], false),
        Shape::Read(make.read(CUSTOMER, &LAST_NAME, Take::Count)),
        by_name(make, &["c_id", "c_balance", "c_first", "c_middle"]),
        make.get(&[(CUSTOMER, &customer)], true),
        make.get(&[(CUSTOMER, &["c_data"])], false),
        make.update(CUSTOMER, &pay, &key),
        make.update(CUSTOMER, &[balance, payment, count, make.to(CUSTOMER, "c_data")], &key),
        make.insert(HISTORY, &history),
    ]
}

fn order_status(make: &Make<'_>) -> Vec<Shape> {
    use table::*;
    let latest = Read {
        order: make.by(ORDERS, "o_id", true),
        limit: Limit::Fixed(1),
        ..make.read(
            ORDERS,
            &["o_w_id", "o_d_id", "o_c_id"],
            make.columns(ORDERS, &["o_id", "o_entry_d", "o_carrier_id"]),
        )
    };
    let line = ["ol_i_id", "ol_supply_w_id", "ol_quantity", "ol_amount", "ol_delivery_d"];
    let lines = Read {
        order: make.by(ORDER_LINE, "ol_number", false),
        ..make.read(ORDER_LINE, &["ol_w_id", "ol_d_id", "ol_o_id"], make.columns(ORDER_LINE, &line))
    };
    vec![
        make.get(&[(CUSTOMER, &["c_balance", "c_first", "c_middle", "c_last"])], false),
        Shape::Read(latest),
        Shape::Read(lines),
    ]
}

fn delivery(make: &Make<'_>) -> Vec<Shape> {
    use table::*;
    let oldest = Read {
        order: make.by(NEW_ORDER, "no_o_id", false),
        limit: Limit::Fixed(1),
        lock: true,
        ..make.read(NEW_ORDER, &["no_w_id", "no_d_id"], make.columns(NEW_ORDER, &["no_o_id"]))
    };
    let amount = Take::Sum(make.0[ORDER_LINE].column("ol_amount"));
    let taken = make.0[NEW_ORDER].columns(&["no_w_id", "no_d_id", "no_o_id"]);
    let deliver = [make.add(CUSTOMER, "c_balance"), make.add_one(CUSTOMER, "c_delivery_cnt")];
    vec![
        Shape::Read(oldest),
        Shape::Delete { table: NEW_ORDER, equal: taken },
        make.get(&[(ORDERS, &["o_c_id"])], false),
        make.update(ORDERS, &[make.to(ORDERS, "o_carrier_id")], &["o_w_id", "o_d_id", "o_id"]),
        make.update(ORDER_LINE, &[make.to(ORDER_LINE, "ol_delivery_d")], &["ol_w_id", "ol_d_id", "ol_o_id"]),
        Shape::Read(make.read(ORDER_LINE, &["ol_w_id", "ol_d_id", "ol_o_id"], amount)),
        make.update(CUSTOMER, &deliver, &["c_w_id", "c_d_id", "c_id"]),
    ]
}

fn stock_level(make: &Make<'_>) -> Vec<Shape> {
    use table::*;
    let (lines, stock) = (&make.0[ORDER_LINE], &make.0[STOCK]);
    let low = CountJoined {
        outer: ORDER_LINE,
        equal: lines.columns(&["ol_w_id", "ol_d_id"]),
        between: lines.column("ol_o_id"),
        via: lines.column("ol_i_id"),
        inner: STOCK,
        inner_equal: vec![stock.column("s_w_id")],
        inner_via: stock.column("s_i_id"),
        below: stock.column("s_quantity"),
    };
    let recent = Read {
        bounds: Some(Bounds::Between(lines.column("ol_o_id"))),
        ..make.read(ORDER_LINE, &["ol_w_id", "ol_d_id"], Take::Distinct(lines.column("ol_i_id")))
    };
    let is_low =
        Read { below: Some(stock.column("s_quantity")), ..make.read(STOCK, &["s_w_id", "s_i_id"], Take::Count) };
    vec![
        make.get(&[(DISTRICT, &["d_next_o_id"])], false),
        Shape::CountJoined(low),
        Shape::Read(recent),
        Shape::Read(is_low),
    ]
}
