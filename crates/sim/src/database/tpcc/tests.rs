//! Orders, deliveries and rollbacks of concurrent transactions without row locks.

use super::*;
use crate::database::layout::Layout;
use crate::database::plan::{Op, Plan};
use crate::database::tpcc::groups;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tameshi_workload::program::tpcc::schema::sql;
use tameshi_workload::program::tpcc::{Sizes, Tpcc};
use tameshi_workload::program::{Client, Manner, Program, Reply, Seeds, Statement, Step, Value};

/// Warehouse and district.
type District = (i64, i64);

/// A client's statement, and its order: district, number, customer and lines.
#[derive(Default)]
struct Terminal {
    reply: Reply,
    statement: Statement,
    undo: Vec<Undo>,
    placed: Option<(District, i64, (i64, i64))>,
}

fn begin(client: &mut Client) {
    let _ = client.begin(1_000_000_000);
}

fn int(statement: &Statement, at: usize) -> i64 {
    if let Value::Int(value) = statement.parameters.get(at) { value } else { panic!("a number") }
}

#[test]
fn statements_request_as_many_pages_as_a_real_server() {
    // MariaDB 10.11.19 with three loaded warehouses: growth of Innodb_buffer_pool_read_requests by
    // one statement, of which the estimates of its optimizer are a part.
    let spec = tameshi_workload::program::Tpcc {
        warehouses: Some(3),
        clients: 1,
        manner: Manner::Specification,
        waits: Default::default(),
        delivery: Default::default(),
        rate: None,
    };
    let tpcc = Arc::new(Tpcc::new(&spec, Sizes::SPECIFICATION, 7));
    let program = Program::Tpcc(Arc::clone(&tpcc));
    let mut state = State::new(&tpcc, true);
    let mut layout = Layout::new(&program.catalogue().tables, (1, 1, 0), |table| groups(&tpcc, table));
    let mut gets = |shape: u16, parameters: &[i64], name: &str| {
        let (mut plan, mut statement, mut reply) = (Plan::default(), Statement::default(), Reply::default());
        let values = statement.of(shape);
        parameters.iter().for_each(|&number| {
            values.int(number);
        });
        if !name.is_empty() {
            values.text(name);
        }
        state.statement(&mut layout, &statement, (&mut plan, &mut reply), &mut Vec::new());
        (plan.ops.iter().filter(|op| matches!(op, Op::Get(_))).count(), reply.values.len())
    };
    let (count_by_name, _) = gets(sql::COUNT_BY_NAME, &[2, 3], "BARBARPRI");
    let (by_name, found) = gets(sql::BY_NAME, &[2, 3], "BARBARPRI");
    let found = found / 4;
    // There one customer has the name.
    assert_eq!((count_by_name, by_name), (17, 17 + 3 * found));
    let latest = gets(sql::LATEST_ORDER, &[2, 3, 700], "").0;
    assert_eq!((latest, gets(sql::ORDER_CUSTOMER, &[2, 3, 2101], "").0), (18, 2));
    assert_eq!(gets(sql::OLDEST, &[2, 3], "").0, 6);
    assert_eq!(gets(sql::CUSTOMER_LOCKED, &[2, 3, 700], "").0, 3);
    assert_eq!(gets(sql::STOCK, &[2, 70_000], "").0, 3);
}

#[test]
fn orders_without_row_locks_have_numbers_of_their_own() {
    let spec = tameshi_workload::program::Tpcc {
        warehouses: Some(1),
        clients: 8,
        manner: Manner::TpccMysql,
        waits: Default::default(),
        delivery: Default::default(),
        rate: None,
    };
    let tpcc = Arc::new(Tpcc::new(&spec, Sizes { items: 500, districts: 3, customers: 60 }, 7));
    let program = Program::Tpcc(Arc::clone(&tpcc));
    let mut state = State::new(&tpcc, false);
    let mut layout = Layout::new(&program.catalogue().tables, (1, 1, 0), |table| groups(&tpcc, table));
    let (mut plan, seeds) = (Plan::default(), Seeds { data: 7, run: 3 });
    let mut clients: Vec<(Client, Terminal)> =
        (0..8).map(|number| (program.client(number, 8, seeds, &program.shared()), Terminal::default())).collect();
    clients.iter_mut().for_each(|(client, _)| begin(client));
    let (mut orders, mut delivered, mut gone) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    // One statement of each in turn, so that all of their transactions are under way at once.
    for turn in 0..160_000 {
        let (client, terminal) = &mut clients[turn % 8];
        match client.next(&terminal.reply, &mut terminal.statement) {
            Step::Begin { .. } => {}
            Step::Run => {
                plan.clear();
                state.statement(&mut layout, &terminal.statement, (&mut plan, &mut terminal.reply), &mut terminal.undo);
                let of = |at: usize| int(&terminal.statement, at);
                match terminal.statement.shape {
                    sql::INSERT_ORDER => terminal.placed = Some(((of(2), of(1)), of(0), (of(3), of(6)))),
                    sql::DELETE_NEW_ORDER if terminal.reply.affected == 1 => {
                        assert!(delivered.insert(((of(0), of(1)), of(2))), "nothing is delivered twice");
                    }
                    _ => {}
                }
            }
            Step::Commit => {
                terminal.undo.clear();
                if let Some((district, number, order)) = terminal.placed.take() {
                    assert_eq!(orders.insert((district, number), order), None, "{district:?}: {number} again");
                }
            }
            Step::Rollback => {
                state.roll_back(&mut terminal.undo);
                gone.extend(terminal.placed.take().map(|(district, number, _)| (district, number)));
            }
            Step::Done(_) => begin(client),
        }
    }
    assert!(orders.len() > 1000 && gone.len() > 5, "{} orders, {} gone", orders.len(), gone.len());
    assert!(gone.iter().all(|of| !orders.contains_key(of) && !delivered.contains(of)));
    assert!(delivered.iter().any(|of| orders.contains_key(of)), "new ones are delivered, too");
    for (((w, d), number), (customer, lines)) in orders {
        let found = state.order(state.number(w, d), number);
        assert_eq!((i64::from(found.customer), i64::from(found.lines), found.gone), (customer, lines, false));
    }
}
