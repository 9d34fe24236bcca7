//! Equality of replies and rows between SQLite and the reference store, for one client with the
//! same seed.

use crate::support::{DATE, loaded, spec, tpcc};
use tameshi_base::{Size, Time};
use tameshi_oltp::{Plan, Session};
use tameshi_workload::program::{
    Cell, Delivery, Document, KeyUpdate, Manner, Memory, Oltp, OltpMix, Outcome, Pgbench, PgbenchMix, Popularity,
    Program, ProgramSpec, PsMode, Reply, Seeds, Statement, Step, Table, Value, Ycsb, YcsbMix,
};

/// Rows of a table in SQLite, ordered by primary key.
fn rows(session: &mut Session, table: &Table) -> Vec<Vec<Option<String>>> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let keys: Vec<&str> = table.primary.iter().map(|&column| table.columns[column].name).collect();
    let order = if keys.is_empty() { "rowid".to_string() } else { keys.join(", ") };
    session.query(&format!("SELECT {} FROM {} ORDER BY {order}", names.join(", "), table.name)).expect("rows")
}

fn text(cell: &Cell) -> Option<String> {
    match cell.value() {
        Value::Null => None,
        Value::Int(value) => Some(value.to_string()),
        Value::Text(text) => Some(text.to_string()),
    }
}

fn the_same_replies_and_rows(of: ProgramSpec, transactions: i64) {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), of, 0);
    let program = loaded(&spec);
    let mut memory = Memory::new(program.catalogue());
    for chunk in program.chunks() {
        program.populate(chunk, DATE, |row| memory.load(chunk.table, row));
    }
    let mut session = Session::open(&spec.target, &Plan::new(&spec, &program)).expect("a connection");
    work(&program, &mut session, &mut memory, transactions);
    for (index, table) in program.catalogue().tables.iter().enumerate() {
        let expected: Vec<Vec<Option<String>>> = memory.rows(index).map(|row| row.iter().map(text).collect()).collect();
        assert!(rows(&mut session, table) == expected, "rows of {} differ", table.name);
    }
}

fn work(program: &Program, session: &mut Session, memory: &mut Memory, transactions: i64) {
    let mut client = program.client(0, 1, Seeds { data: 1, run: 2 }, &program.shared());
    let (mut reply, mut expected, mut statement) = (Reply::default(), Reply::default(), Statement::default());
    for number in 0..transactions {
        client.begin(DATE + number);
        loop {
            match client.next(&reply, &mut statement) {
                Step::Begin { writes } => session.begin(writes).expect("begun"),
                Step::Run => {
                    session.run(&statement, &mut reply).expect("carried out");
                    assert!(memory.execute(&statement, &mut expected));
                    assert_eq!(sorted(&reply), sorted(&expected), "{statement:?}");
                }
                Step::Commit => {
                    session.commit().expect("committed");
                    memory.commit();
                }
                Step::Rollback => {
                    session.roll_back().expect("taken back");
                    memory.roll_back();
                }
                Step::Done(outcome) => {
                    assert!(!matches!(outcome, Outcome::Missing(_)), "{outcome:?}");
                    break;
                }
            }
        }
    }
}

/// Sort rows that were queried without an order.
fn sorted(reply: &Reply) -> (u64, Vec<Vec<Value<'_>>>) {
    let mut rows: Vec<Vec<Value<'_>>> =
        (0..reply.rows()).map(|row| (0..reply.width).map(|column| reply.get(row, column)).collect()).collect();
    rows.sort();
    (reply.affected, rows)
}

#[test]
fn tpcc_touches_the_same_rows_on_sqlite_and_reference() {
    for manner in [Manner::Specification, Manner::TpccMysql] {
        the_same_replies_and_rows(ProgramSpec::Tpcc(tpcc(1, manner, Delivery::AtOnce)), 400);
    }
}

#[test]
fn sysbench_touches_the_same_rows_on_sqlite_and_reference() {
    for mix in [OltpMix::ReadWrite, OltpMix::UpdateIndex, OltpMix::Delete] {
        let spec = Oltp { popularity: Popularity::Zipfian, range_size: 20, ..Oltp::of(mix, 1, 2, 300) };
        the_same_replies_and_rows(ProgramSpec::Oltp(spec), 60);
    }
}

#[test]
fn sysbench_options_change_access_and_not_rows() {
    let options: [fn(&mut Oltp); 4] = [
        |spec| spec.db_ps_mode = PsMode::Disable,
        |spec| spec.secondary = true,
        |spec| (spec.create_secondary, spec.auto_inc) = (false, false),
        |spec| (spec.secondary, spec.range_selects, spec.skip_trx) = (true, false, true),
    ];
    for change in options {
        for mix in [OltpMix::ReadWrite, OltpMix::Insert] {
            let mut spec = Oltp { popularity: Popularity::Pareto, range_size: 20, ..Oltp::of(mix, 1, 2, 300) };
            change(&mut spec);
            // SQLite numbers rows only by a primary key.
            spec.auto_inc &= !(spec.secondary && mix == OltpMix::Insert);
            the_same_replies_and_rows(ProgramSpec::Oltp(spec), 40);
        }
    }
}

#[test]
fn other_programs_touch_the_same_rows_as_the_reference() {
    let (rows, rate) = (300, None);
    the_same_replies_and_rows(
        ProgramSpec::KeyUpdate(KeyUpdate {
            tables: 3,
            rows,
            row_size: Size(300),
            clients: 1,
            rate,
            think_time: Time(0),
        }),
        100,
    );
    for mix in [YcsbMix::A, YcsbMix::D, YcsbMix::E, YcsbMix::F] {
        the_same_replies_and_rows(
            ProgramSpec::Ycsb(Ycsb { mix, records: rows, clients: 1, rate, think_time: Time(0) }),
            150,
        );
    }
    let mix = PgbenchMix::TpcbLike;
    the_same_replies_and_rows(
        ProgramSpec::Pgbench(Pgbench { mix, clients: 1, scale: 1, rate, think_time: Time(0) }),
        50,
    );
    the_same_replies_and_rows(
        ProgramSpec::Document(Document { documents: rows, size: Size(600), clients: 1, rate, think_time: Time(0) }),
        50,
    );
}
