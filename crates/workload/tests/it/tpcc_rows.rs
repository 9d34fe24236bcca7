//! Tables of TPC-C: the initial rows, and the conditions of consistency after work.

use crate::support::{loaded, one, work};
use std::collections::BTreeMap;
use std::sync::Arc;
use tameshi_workload::program::tpcc::schema::{sql, table};
use tameshi_workload::program::tpcc::{Input, Sizes, Tpcc, last_name};
use tameshi_workload::program::{
    Cell, Client, Delivery, Manner, Memory, Outcome, Program, ProgramSpec, Seeds, Value, Waits,
};

const SMALL: Sizes = Sizes { items: 500, districts: 10, customers: 60 };

fn program(warehouses: u32, manner: Manner) -> Program {
    let (waits, delivery) = (Waits::None, Delivery::AtOnce);
    let warehouses = Some(warehouses);
    let spec = tameshi_workload::program::Tpcc { warehouses, clients: 4, manner, waits, delivery, rate: None };
    Program::Tpcc(Arc::new(Tpcc::new(&spec, SMALL, 1)))
}

/// Rows of a table as whole numbers by column name; text and nothing count as zero.
fn rows<'m>(memory: &'m Memory, program: &Program, table: usize) -> Vec<BTreeMap<&'static str, &'m Cell>> {
    let names: Vec<&str> = program.catalogue().tables[table].columns.iter().map(|column| column.name).collect();
    memory.rows(table).map(|row| names.iter().copied().zip(row).collect()).collect()
}

type Key = (i64, i64);

/// Sums of `value` over rows, by a key.
fn sums<'m, K: Ord>(
    rows: &[BTreeMap<&'static str, &'m Cell>],
    key: impl Fn(&BTreeMap<&'static str, &'m Cell>) -> K,
    value: impl Fn(&BTreeMap<&'static str, &'m Cell>) -> i64,
) -> BTreeMap<K, i64> {
    let mut sums = BTreeMap::new();
    rows.iter().for_each(|row| *sums.entry(key(row)).or_insert(0) += value(row));
    sums
}

#[test]
fn tpcc_mysqls_manner_has_the_indexes_of_its_foreign_keys() {
    let indexes = |manner| {
        let program = program(1, manner);
        let told = program.catalogue().tables.iter().flat_map(|table| {
            table.indexes.iter().map(|index| {
                let columns: Vec<&str> = index.columns.iter().map(|&column| table.columns[column].name).collect();
                format!("{} {}", table.name, columns.join(","))
            })
        });
        told.collect::<Vec<_>>()
    };
    let specification =
        ["customer c_w_id,c_d_id,c_last,c_first", "orders o_w_id,o_d_id,o_c_id,o_id"].map(str::to_owned);
    assert_eq!(indexes(Manner::Specification), specification);
    // What add_fkey_idx.sql makes, and InnoDB for each foreign key whose columns begin no other
    // index.
    let added = [
        "history h_c_w_id,h_c_d_id,h_c_id",
        "history h_w_id,h_d_id",
        "order_line ol_supply_w_id,ol_i_id",
        "stock s_i_id",
    ];
    let mut all: Vec<String> = specification.into_iter().chain(added.map(str::to_owned)).collect();
    all.sort_unstable();
    let mut found = indexes(Manner::TpccMysql);
    found.sort_unstable();
    assert_eq!(found, all);
}

/// By district the least and the largest number of its new orders, and how many there are.
fn open_orders(new_orders: &[BTreeMap<&'static str, &Cell>]) -> BTreeMap<Key, (i64, i64, i64)> {
    let mut open: BTreeMap<Key, (i64, i64, i64)> = BTreeMap::new();
    for order in new_orders {
        let (key, number) = ((order["no_w_id"].int(), order["no_d_id"].int()), order["no_o_id"].int());
        let open = open.entry(key).or_insert((i64::MAX, 0, 0));
        *open = (open.0.min(number), open.1.max(number), open.2 + 1);
    }
    open
}

/// The eleventh condition: orders less new orders of a district are those delivered before loading,
/// and since.
fn delivered_are_counted(
    orders: &[BTreeMap<&'static str, &Cell>],
    customers: &[BTreeMap<&'static str, &Cell>],
    open: &BTreeMap<Key, (i64, i64, i64)>,
) -> bool {
    let placed = sums(orders, |o| (o["o_w_id"].int(), o["o_d_id"].int()), |_| 1);
    let since = sums(customers, |c| (c["c_w_id"].int(), c["c_d_id"].int()), |c| c["c_delivery_cnt"].int());
    let before = (SMALL.customers - SMALL.undelivered()) as i64;
    placed.iter().all(|(key, count)| count - open.get(key).map_or(0, |open| open.2) == before + since[key])
}

/// The twelve conditions of clause 3.3.2, the eleventh with the orders delivered since loading; the
/// broken ones.
fn broken(memory: &Memory, program: &Program) -> Vec<u32> {
    let of = |table| rows(memory, program, table);
    let (warehouses, districts, customers) = (of(table::WAREHOUSE), of(table::DISTRICT), of(table::CUSTOMER));
    let (history, new_orders, orders, lines) =
        (of(table::HISTORY), of(table::NEW_ORDER), of(table::ORDERS), of(table::ORDER_LINE));
    let mut broken = Vec::new();
    let mut demand = |number, holds: bool| {
        if !holds {
            broken.push(number);
        }
    };
    let by_warehouse = sums(&districts, |d| d["d_w_id"].int(), |d| d["d_ytd"].int());
    demand(1, warehouses.iter().all(|w| w["w_ytd"].int() == by_warehouse[&w["w_id"].int()]));
    let key =
        |w: &'static str, d: &'static str| move |row: &BTreeMap<&'static str, &Cell>| (row[w].int(), row[d].int());
    let district = key("d_w_id", "d_id");
    let mut latest: BTreeMap<Key, i64> = BTreeMap::new();
    orders.iter().for_each(|o| {
        let latest = latest.entry(key("o_w_id", "o_d_id")(o)).or_insert(0);
        *latest = (*latest).max(o["o_id"].int());
    });
    let open = open_orders(&new_orders);
    demand(
        2,
        districts.iter().all(|d| {
            let next = d["d_next_o_id"].int() - 1;
            next == latest[&district(d)] && open.get(&district(d)).is_none_or(|open| open.1 == next)
        }),
    );
    demand(3, open.values().all(|(least, most, count)| most - least + 1 == *count));
    let counted = sums(&orders, key("o_w_id", "o_d_id"), |o| o["o_ol_cnt"].int());
    demand(4, counted == sums(&lines, key("ol_w_id", "ol_d_id"), |_| 1));
    let undelivered: std::collections::BTreeSet<(i64, i64, i64)> =
        new_orders.iter().map(|n| (n["no_w_id"].int(), n["no_d_id"].int(), n["no_o_id"].int())).collect();
    let order = |o: &BTreeMap<&'static str, &Cell>| (o["o_w_id"].int(), o["o_d_id"].int(), o["o_id"].int());
    demand(5, orders.iter().all(|o| (*o["o_carrier_id"] == Cell::Null) == undelivered.contains(&order(o))));
    let of_order = |l: &BTreeMap<&'static str, &Cell>| (l["ol_w_id"].int(), l["ol_d_id"].int(), l["ol_o_id"].int());
    let counts = sums(&lines, of_order, |_| 1);
    demand(6, orders.iter().all(|o| counts[&order(o)] == o["o_ol_cnt"].int()));
    demand(7, lines.iter().all(|l| (*l["ol_delivery_d"] == Cell::Null) == undelivered.contains(&of_order(l))));
    let paid = sums(&history, |h| h["h_w_id"].int(), |h| h["h_amount"].int());
    demand(8, warehouses.iter().all(|w| w["w_ytd"].int() == paid[&w["w_id"].int()]));
    let paid = sums(&history, key("h_w_id", "h_d_id"), |h| h["h_amount"].int());
    demand(9, districts.iter().all(|d| d["d_ytd"].int() == paid[&district(d)]));
    let owner: BTreeMap<(i64, i64, i64), i64> = orders.iter().map(|o| (order(o), o["o_c_id"].int())).collect();
    let delivered: Vec<_> = lines.iter().filter(|l| *l["ol_delivery_d"] != Cell::Null).cloned().collect();
    let bought =
        sums(&delivered, |l| (l["ol_w_id"].int(), l["ol_d_id"].int(), owner[&of_order(l)]), |l| l["ol_amount"].int());
    let paid =
        sums(&history, |h| (h["h_c_w_id"].int(), h["h_c_d_id"].int(), h["h_c_id"].int()), |h| h["h_amount"].int());
    let customer = |c: &BTreeMap<&'static str, &Cell>| (c["c_w_id"].int(), c["c_d_id"].int(), c["c_id"].int());
    let amount = |of: &BTreeMap<(i64, i64, i64), i64>, key| of.get(&key).copied().unwrap_or(0);
    demand(
        10,
        customers.iter().all(|c| c["c_balance"].int() == amount(&bought, customer(c)) - amount(&paid, customer(c))),
    );
    demand(11, delivered_are_counted(&orders, &customers, &open));
    demand(
        12,
        customers.iter().all(|c| c["c_balance"].int() + c["c_ytd_payment"].int() == amount(&bought, customer(c))),
    );
    broken
}

#[test]
fn the_initial_rows_are_as_many_as_the_specification_wants() {
    let spec = tameshi_workload::program::Tpcc {
        warehouses: Some(2),
        clients: 1,
        manner: Manner::Specification,
        waits: Waits::None,
        delivery: Delivery::AtOnce,
        rate: None,
    };
    let program = Program::new(&ProgramSpec::Tpcc(spec), 1);
    let mut counts = vec![0u64; 9];
    for chunk in program.chunks() {
        if chunk.table == table::ORDER_LINE && chunk.part > 1 {
            continue; // their number is drawn: two districts of them are enough
        }
        let mut made = 0;
        program.populate(chunk, 0, |_| made += 1);
        if chunk.table != table::ORDER_LINE {
            assert_eq!(made, chunk.rows, "{chunk:?}");
        }
        counts[chunk.table] += made;
    }
    let lines = counts.remove(table::ORDER_LINE);
    assert_eq!(counts, [2, 20, 60_000, 60_000, 18_000, 60_000, 100_000, 200_000]);
    let error = (lines as f64 - 60_000.0) / (6000.0f64 * 10.0).sqrt();
    assert!(error.abs() < 4.0, "{lines} lines of 6000 orders");
}

#[test]
fn initial_rows_depend_on_the_data_seed_alone() {
    let first = loaded(&program(2, Manner::Specification));
    let again = loaded(&program(2, Manner::TpccMysql));
    for table in 0..9 {
        assert!(first.rows(table).eq(again.rows(table)));
    }
    assert_eq!(broken(&first, &program(2, Manner::Specification)), [0; 0]);
}

#[test]
fn initial_rows_have_the_specified_shares() {
    let program = program(4, Manner::Specification);
    let memory = loaded(&program);
    let share = |table, column: &str, has: &dyn Fn(&str) -> bool| {
        let rows = rows(&memory, &program, table);
        let with = rows.iter().filter(|row| matches!(row[column].value(), Value::Text(text) if has(text))).count();
        with as f64 / rows.len() as f64
    };
    assert!((share(table::STOCK, "s_data", &|data| data.contains("ORIGINAL")) - 0.1).abs() < 0.03);
    assert!((share(table::CUSTOMER, "c_credit", &|credit| credit == "BC") - 0.1).abs() < 0.03);
    for row in rows(&memory, &program, table::CUSTOMER) {
        let mut name = String::new();
        last_name(row["c_id"].int() as u64 - 1, &mut name);
        assert_eq!(row["c_last"].value(), Value::Text(&name), "the first thousand customers have each name once");
    }
}

#[test]
fn conditions_hold_after_thousands_of_transactions() {
    for manner in [Manner::Specification, Manner::TpccMysql] {
        let program = program(3, manner);
        let mut memory = loaded(&program);
        let (_, done) = work(&program, &mut memory, 6, 23 * 12, 5);
        assert!(done.iter().all(|done| !matches!(done.outcome, Outcome::Missing(_))));
        let taken_back = done.iter().filter(|done| done.outcome == Outcome::RolledBack).count();
        assert!((1..=20).contains(&taken_back), "{taken_back} of some 720 New-Orders");
        assert_eq!(broken(&memory, &program), [0; 0], "{manner:?}");
    }
}

#[test]
fn conditions_are_found_broken_when_a_payment_loses_a_cent() {
    let program = program(1, Manner::Specification);
    let mut memory = loaded(&program);
    let mut statement = tameshi_workload::program::Statement::default();
    statement.of(sql::PAY_DISTRICT).int(1).int(1).int(1);
    assert!(memory.execute(&statement, &mut tameshi_workload::program::Reply::default()));
    assert_eq!(broken(&memory, &program), [1, 9]);
}

#[test]
fn the_same_seeds_ask_the_same_and_other_runs_ask_otherwise() {
    let trace = |run| {
        let program = program(2, Manner::Specification);
        let mut memory = loaded(&program);
        let mut client = program.client(0, 1, Seeds { data: 1, run }, &program.shared());
        let mut seen = Vec::new();
        for date in 0..100 {
            one(&mut client, &mut memory, date, |s, r| seen.push((s.clone(), r.clone())));
        }
        seen
    };
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(2));
}

#[test]
fn new_order_takes_stock_and_costs_as_specified() {
    let program = program(2, Manner::Specification);
    let mut memory = loaded(&program);
    let mut client = program.client(0, 1, Seeds { data: 1, run: 9 }, &program.shared());
    let (mut filled, mut orders) = (0, 0);
    for date in 0..600 {
        let (mut before, mut after, mut quantity) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rates, mut sum) = ((0, 0), 0);
        let done = one(&mut client, &mut memory, date, |statement, reply| match statement.shape {
            sql::CUSTOMER_AND_WAREHOUSE => rates = (reply.int(0, 0), reply.int(0, 3)),
            sql::DISTRICT_LOCKED => rates.1 += reply.int(0, 1),
            shape if shape >= sql::STOCK => before.push(reply.int(0, 0)),
            sql::UPDATE_STOCK => {
                let [Value::Int(left), Value::Int(taken)] = [0, 1].map(|at| statement.parameters.get(at)) else {
                    panic!()
                };
                after.push(left);
                quantity.push(taken);
            }
            sql::INSERT_LINE => {
                let Value::Int(amount) = statement.parameters.get(7) else { panic!("an amount") };
                sum += amount;
            }
            _ => {}
        });
        for ((before, after), quantity) in before.iter().zip(&after).zip(&quantity) {
            let enough = before - quantity >= 10;
            filled += i32::from(!enough);
            assert_eq!(*after, before - quantity + if enough { 0 } else { 91 });
        }
        let Client::Tpcc(terminal) = &client else { panic!("a terminal") };
        if matches!(terminal.input().1, Input::NewOrder { .. }) && done.outcome == Outcome::Committed {
            orders += 1;
            let exact = sum as f64 * (1.0 - rates.0 as f64 / 1e4) * (1.0 + rates.1 as f64 / 1e4);
            assert!((terminal.total() as f64 - exact).abs() <= 0.5001, "{} for {exact}", terminal.total());
        }
    }
    assert!(orders > 200 && filled > 5, "{orders} orders, stock filled up {filled} times");
}

#[test]
fn of_customers_with_a_name_the_middle_one_is_meant_rounded_up() {
    let program = program(1, Manner::Specification);
    let mut memory = loaded(&program);
    let mut client = program.client(0, 1, Seeds { data: 1, run: 4 }, &program.shared());
    // Seven customers of each name: the table's own names are one each.
    let catalogue = program.catalogue();
    let customer = &catalogue.tables[table::CUSTOMER];
    let all: Vec<_> = memory.rows(table::CUSTOMER).cloned().collect();
    for copy in 1..7 {
        for row in &all {
            let mut values = tameshi_workload::program::Values::default();
            for (index, cell) in row.iter().enumerate() {
                match customer.columns[index].name {
                    "c_id" => values.int(cell.int() + 1000 * copy),
                    "c_first" => values.text(&format!("{}{}", 9 - copy, "x")),
                    _ => values.push(cell.value()),
                };
            }
            memory.load(table::CUSTOMER, &values);
        }
    }
    let mut looked = 0;
    for date in 0..200 {
        let mut wanted = None;
        one(&mut client, &mut memory, date, |statement, reply| match statement.shape {
            sql::BY_NAME => {
                assert_eq!(reply.rows(), 7);
                let firsts: Vec<&str> = (0..7).map(|row| reply.text(row, 2)).collect();
                assert!(firsts.is_sorted());
                wanted = Some(reply.int(3, 0));
            }
            sql::CUSTOMER_LOCKED | sql::LATEST_ORDER if wanted.is_some() => {
                assert_eq!(statement.parameters.get(2), Value::Int(wanted.expect("just seen")));
                looked += 1;
            }
            _ => {}
        });
    }
    assert!(looked > 40, "{looked}");
}
