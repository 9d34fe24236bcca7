//! Comparison of the rows that the simulated server and the reference touch: the same program with
//! the same seeds, statement by statement.

use super::layout::Layout;
use super::plan::{Op, Plan};
use super::tpcc::{State, groups};
use std::sync::Arc;
use tameshi_workload::program::relation::Set;
use tameshi_workload::program::tpcc::{Sizes, Tpcc};
use tameshi_workload::program::{Catalogue, Manner, Memory, Program, Reply, Seeds, Shape, Statement, Step, Value};

/// Fewer rows than the specification's, with the same structure.
const SIZES: Sizes = Sizes { items: 500, districts: 3, customers: 60 };

fn program(manner: Manner) -> (Program, Arc<Tpcc>) {
    let spec = tameshi_workload::program::Tpcc {
        warehouses: Some(2),
        clients: 1,
        manner,
        waits: Default::default(),
        delivery: Default::default(),
        rate: None,
    };
    let tpcc = Arc::new(Tpcc::new(&spec, SIZES, 7));
    (Program::Tpcc(Arc::clone(&tpcc)), tpcc)
}

/// Return the table and the key of a statement, without the values that it writes.
fn touched(catalogue: &Catalogue, statement: &Statement) -> String {
    let values: Vec<Value<'_>> = statement.parameters.iter().collect();
    let key = match &catalogue.shapes[statement.shape as usize] {
        Shape::Update { set, .. } => {
            let given = set.iter().filter(|set| !matches!(set, Set::AddFixed(..))).count();
            &values[given..]
        }
        Shape::Insert { table, .. } if catalogue.tables[*table].primary.is_empty() => &values[..5],
        Shape::Insert { .. } => &values[..3],
        _ => &values[..],
    };
    format!("{} {key:?}", statement.shape)
}

fn transaction(
    client: &mut tameshi_workload::program::Client,
    catalogue: &Catalogue,
    mut execute: impl FnMut(&Step, &Statement, &mut Reply),
) -> Vec<String> {
    let (mut reply, mut statement, mut rows) = (Reply::default(), Statement::default(), Vec::new());
    client.begin(1_000_000_000);
    loop {
        let step = client.next(&reply, &mut statement);
        if let Step::Done(outcome) = step {
            rows.push(format!("{outcome:?}"));
            return rows;
        }
        execute(&step, &statement, &mut reply);
        rows.push(match step {
            Step::Run => touched(catalogue, &statement),
            other => format!("{other:?}"),
        });
    }
}

#[test]
fn tpcc_touches_the_same_rows_as_the_reference() {
    for manner in [Manner::Specification, Manner::TpccMysql] {
        let (program, tpcc) = program(manner);
        let catalogue = program.catalogue().clone();
        let mut memory = Memory::new(&catalogue);
        for chunk in program.chunks() {
            program.populate(chunk, 1_000_000_000, |row| memory.load(chunk.table, row));
        }
        let mut state = State::new(&tpcc, true);
        let mut layout = Layout::new(&catalogue.tables, (1, 1, 0), |table| groups(&tpcc, table));
        let (mut plan, mut undo) = (Plan::default(), Vec::new());
        let seeds = Seeds { data: 7, run: 3 };
        let mut pair = [(); 2].map(|()| program.client(0, 1, seeds, &program.shared()));
        let [real, simulated] = &mut pair;
        for number in 0..1500 {
            let expected = transaction(real, &catalogue, |step, statement, reply| match step {
                Step::Run => assert!(memory.execute(statement, reply)),
                Step::Commit => memory.commit(),
                Step::Rollback => memory.roll_back(),
                Step::Begin { .. } | Step::Done(_) => {}
            });
            let found = transaction(simulated, &catalogue, |step, statement, reply| match step {
                Step::Run => {
                    plan.clear();
                    state.statement(&mut layout, statement, (&mut plan, reply), &mut undo);
                    assert!(!plan.ops.is_empty());
                }
                Step::Commit => undo.clear(),
                Step::Rollback => state.roll_back(&mut undo),
                Step::Begin { .. } | Step::Done(_) => {}
            });
            assert_eq!(found, expected, "{manner:?}, transaction {number}");
        }
    }
}

/// A key, as far as a statement has it, and the page of its entry.
type Entry = (Vec<i64>, u32);

/// Return the entries of an insert in the indexes of its table.
fn entries(catalogue: &Catalogue, statement: &Statement, plan: &Plan) -> Option<(usize, Vec<Entry>)> {
    let Shape::Insert { table, columns } = &catalogue.shapes[statement.shape as usize] else { return None };
    let values: Vec<Value<'_>> = statement.parameters.iter().collect();
    let value = |column: &usize| match values[columns.iter().position(|of| of == column).expect("a value")] {
        Value::Int(value) => value,
        _ => panic!("keys are numbers"),
    };
    let pages = plan.ops.iter().filter_map(|op| if let Op::Secondary(page, _) = op { Some(*page) } else { None });
    let keys = catalogue.tables[*table].indexes.iter().map(|index| index.columns.iter().map(value).collect());
    let (keys, pages): (Vec<_>, Vec<_>) = (keys.collect(), pages.collect());
    assert_eq!(keys.len(), pages.len(), "an entry in each index of {}", catalogue.tables[*table].name);
    Some((*table, keys.into_iter().zip(pages).collect()))
}

#[test]
fn inserts_enter_every_index_at_their_key() {
    for (manner, expected) in [(Manner::Specification, 1), (Manner::TpccMysql, 4)] {
        let (program, tpcc) = program(manner);
        let catalogue = program.catalogue().clone();
        let mut state = State::new(&tpcc, true);
        let mut layout = Layout::new(&catalogue.tables, (1, 1, 0), |table| groups(&tpcc, table));
        let (mut plan, mut undo) = (Plan::default(), Vec::new());
        let mut client = program.client(0, 1, Seeds { data: 7, run: 3 }, &program.shared());
        let mut found = std::collections::BTreeMap::<(usize, usize), Vec<Entry>>::new();
        for _ in 0..500 {
            transaction(&mut client, &catalogue, |step, statement, reply| match step {
                Step::Run => {
                    plan.clear();
                    state.statement(&mut layout, statement, (&mut plan, reply), &mut undo);
                    let Some((table, entries)) = entries(&catalogue, statement, &plan) else { return };
                    entries.into_iter().enumerate().for_each(|(n, entry)| {
                        found.entry((table, n)).or_default().push(entry);
                    });
                }
                Step::Commit => undo.clear(),
                Step::Rollback => state.roll_back(&mut undo),
                Step::Begin { .. } | Step::Done(_) => {}
            });
        }
        assert_eq!(found.len(), expected);
        for ((table, index), mut entries) in found {
            entries.sort_unstable();
            assert!(entries.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{manner:?}: {table}.{index}");
            let (first, leaves) = layout.tables[table].secondary[index].leaves();
            assert!(entries.iter().all(|(_, page)| (first..first + leaves).contains(page)));
        }
    }
}

#[test]
fn page_split_locks_the_tree_and_gets_both_neighbours() {
    let (program, tpcc) = program(Manner::TpccMysql);
    let catalogue = program.catalogue().clone();
    let mut state = State::new(&tpcc, true);
    let mut layout = Layout::new(&catalogue.tables, (1, 1, 0), |table| groups(&tpcc, table));
    let (mut plan, mut undo, mut splits) = (Plan::default(), Vec::new(), 0);
    plan.trees = (true, 0);
    let mut client = program.client(0, 1, Seeds { data: 7, run: 3 }, &program.shared());
    for _ in 0..500 {
        transaction(&mut client, &catalogue, |step, statement, reply| {
            match step {
                Step::Run => plan.clear(),
                Step::Rollback => return state.roll_back(&mut undo),
                _ => return undo.clear(),
            }
            state.statement(&mut layout, statement, (&mut plan, reply), &mut undo);
            for at in 0..plan.ops.len() {
                let Op::Create(new, _) = plan.ops[at] else { continue };
                let [Op::Enter(table), Op::Get(left), Op::Get(full), Op::Get(right)] = plan.ops[at - 4..at] else {
                    panic!("{:?}", plan.ops)
                };
                assert_eq!((left + 1, right), (full, full + 1));
                assert!(new > full && plan.ops[at + 1] == Op::Leave(table));
                splits += 1;
            }
        });
    }
    assert!(splits > 10, "{splits}");
}

#[test]
fn page_split_without_tree_locks_locks_no_tree() {
    let (program, tpcc) = program(Manner::TpccMysql);
    let catalogue = program.catalogue().clone();
    for locked in [true, false] {
        let mut state = State::new(&tpcc, true);
        let mut layout = Layout::new(&catalogue.tables, (1, 1, 0), |table| groups(&tpcc, table));
        let (mut plan, mut undo, mut entered, mut splits) = (Plan::default(), Vec::new(), 0, 0);
        plan.trees = (locked, 0);
        let mut client = program.client(0, 1, Seeds { data: 7, run: 3 }, &program.shared());
        for _ in 0..500 {
            transaction(&mut client, &catalogue, |step, statement, reply| {
                match step {
                    Step::Run => plan.clear(),
                    Step::Rollback => return state.roll_back(&mut undo),
                    _ => return undo.clear(),
                }
                state.statement(&mut layout, statement, (&mut plan, reply), &mut undo);
                entered += plan.ops.iter().filter(|op| matches!(op, Op::Enter(_) | Op::Leave(_))).count();
                splits += plan.ops.iter().filter(|op| matches!(op, Op::Create(..))).count();
            });
        }
        assert!(splits > 10, "{splits}");
        assert_eq!(entered, if locked { 2 * splits } else { 0 });
    }
}
