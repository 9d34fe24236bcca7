//! The programs besides TPC-C: statements, mixes, keys.

use crate::support::{loaded, one, work};
use std::collections::BTreeMap;
use tameshi_base::{Size, Time};
use tameshi_workload::program::{
    Client, Document, KeyUpdate, Oltp, OltpMix, Outcome, Pgbench, PgbenchMix, Program, ProgramSpec, Scan, Seeds, Shape,
    Value, Ycsb, YcsbMix,
};

fn client(program: &Program, run: u64) -> Client {
    program.client(0, 1, Seeds { data: 1, run }, &program.shared())
}

fn oltp(mix: OltpMix) -> Program {
    Program::new(&ProgramSpec::Oltp(Oltp::of(mix, 1, 3, 500)), 1)
}

#[test]
fn sysbenchs_transactions_have_its_statements() {
    // Without the statement that opens a transaction, which sysbench counts as one more.
    let expected = [
        (OltpMix::ReadWrite, 19, 4),
        (OltpMix::ReadOnly, 15, 0),
        (OltpMix::WriteOnly, 5, 4),
        (OltpMix::PointSelect, 1, 0),
        (OltpMix::UpdateIndex, 1, 1),
        (OltpMix::UpdateNonIndex, 1, 1),
        (OltpMix::Insert, 1, 1),
        (OltpMix::Delete, 1, 1),
    ];
    for (mix, statements, writes) in expected {
        let program = oltp(mix);
        let mut memory = loaded(&program);
        let mut client = client(&program, 2);
        for _ in 0..50 {
            let mut written = 0;
            let done = one(&mut client, &mut memory, 0, |statement, _| {
                written += u32::from(program.catalogue().shapes[statement.shape as usize].writes());
            });
            assert_eq!((done.statements, written, done.outcome), (statements, writes, Outcome::Committed), "{mix:?}");
        }
    }
}

#[test]
fn sysbenchs_rows_look_like_sysbenchs() {
    let program = oltp(OltpMix::ReadWrite);
    let memory = loaded(&program);
    for table in 0..3 {
        let rows: Vec<_> = memory.rows(table).collect();
        assert_eq!(rows.len(), 500);
        for (id, row) in (1..).zip(rows) {
            assert_eq!(row[0].int(), id);
            assert!((1..=500).contains(&row[1].int()));
            let [Value::Text(c), Value::Text(pad)] = [row[2].value(), row[3].value()] else { panic!("texts") };
            assert_eq!((c.len(), pad.len()), (119, 59));
            assert!(c.split('-').all(|group| group.len() == 11 && group.bytes().all(|b| b.is_ascii_digit())));
        }
    }
}

#[test]
fn a_deleted_row_comes_back_in_the_same_transaction() {
    let program = oltp(OltpMix::WriteOnly);
    let mut memory = loaded(&program);
    work(&program, &mut memory, 2, 500, 3);
    (0..3).for_each(|table| assert_eq!(memory.rows(table).count(), 500));
}

#[test]
fn skipping_transactions_leaves_only_the_statements() {
    let spec = Oltp { skip_trx: true, ..Oltp::of(OltpMix::ReadWrite, 1, 2, 100) };
    let program = Program::new(&ProgramSpec::Oltp(spec), 1);
    assert_eq!(one(&mut client(&program, 1), &mut loaded(&program), 0, |_, _| {}).statements, 18);
}

#[test]
fn pgbenchs_balances_and_its_history_tell_the_same() {
    for (mix, statements) in [(PgbenchMix::TpcbLike, 6), (PgbenchMix::SimpleUpdate, 4), (PgbenchMix::SelectOnly, 1)] {
        let spec = Pgbench { mix, clients: 1, scale: 1, rate: None, think_time: Time(0) };
        let program = Program::new(&ProgramSpec::Pgbench(spec), 1);
        let mut memory = loaded(&program);
        let mut client = client(&program, 2);
        for date in 0..40 {
            assert_eq!(one(&mut client, &mut memory, date, |_, _| {}).statements, statements, "{mix:?}");
        }
        let sum = |table: usize, column: usize| memory.rows(table).map(|row| row[column].int()).sum::<i64>();
        let (branches, tellers, accounts, history) = (sum(0, 1), sum(1, 2), sum(2, 2), sum(3, 3));
        let (all, some) = (mix == PgbenchMix::TpcbLike, mix != PgbenchMix::SelectOnly);
        assert_eq!((accounts != 0, accounts), (some, history), "{mix:?}");
        assert_eq!((branches, tellers), if all { (history, history) } else { (0, 0) });
        assert_eq!([0, 1, 2, 3].map(|table| memory.rows(table).count()), [1, 10, 100_000, if some { 40 } else { 0 }]);
    }
}

#[test]
fn key_updates_reach_all_rows_of_all_tables_one_at_a_time() {
    let spec = KeyUpdate { tables: 4, rows: 400, row_size: Size(208), clients: 1, rate: None, think_time: Time(0) };
    let program = Program::new(&ProgramSpec::KeyUpdate(spec), 1);
    let mut memory = loaded(&program);
    let mut touched = BTreeMap::new();
    let mut client = client(&program, 1);
    for _ in 0..4000 {
        one(&mut client, &mut memory, 0, |statement, reply| {
            assert_eq!(reply.affected, 1);
            let Value::Text(payload) = statement.parameters.get(0) else { panic!("a payload") };
            assert_eq!(payload.len(), 200);
            *touched.entry((statement.shape, format!("{:?}", statement.parameters.get(1)))).or_insert(0) += 1;
        });
    }
    assert_eq!(touched.len(), 400, "each row at ten updates in the mean");
}

#[test]
fn a_scan_reads_the_sum_of_every_row() {
    let program = Program::new(&ProgramSpec::Scan(Scan { size: Size(100_000), clients: 1, think_time: Time(0) }), 1);
    let mut memory = loaded(&program);
    let sum: i64 = memory.rows(0).map(|row| row[1].int()).sum();
    one(&mut client(&program, 1), &mut memory, 0, |_, reply| assert_eq!(reply.int(0, 0), sum));
    assert_eq!(memory.rows(0).count(), 500);
    assert_eq!(program.catalogue().tables[0].mean_row_bytes(), 200);
}

#[test]
fn ycsbs_mixes_have_their_shares() {
    let expected: [(YcsbMix, [f64; 5]); 6] = [
        (YcsbMix::A, [0.5, 0.5, 0.0, 0.0, 0.0]),
        (YcsbMix::B, [0.95, 0.05, 0.0, 0.0, 0.0]),
        (YcsbMix::C, [1.0, 0.0, 0.0, 0.0, 0.0]),
        (YcsbMix::D, [0.95, 0.0, 0.05, 0.0, 0.0]),
        (YcsbMix::E, [0.0, 0.0, 0.05, 0.95, 0.0]),
        (YcsbMix::F, [0.5, 0.0, 0.0, 0.0, 0.5]),
    ];
    for (mix, shares) in expected {
        let program = Program::new(
            &ProgramSpec::Ycsb(Ycsb { mix, records: 300, clients: 1, rate: None, think_time: Time(0) }),
            1,
        );
        let mut memory = loaded(&program);
        let (_, done) = work(&program, &mut memory, 1, 3000, 3);
        for (kind, share) in shares.iter().enumerate() {
            let found = done.iter().filter(|done| done.kind == kind).count() as f64 / 3000.0;
            assert!((found - share).abs() < 0.035, "{mix:?}, kind {kind}: {found}");
        }
        assert_eq!(memory.rows(0).count(), 300 + done.iter().filter(|done| done.kind == 2).count());
    }
}

#[test]
fn ycsb_finds_every_record_and_scatters_popular_ones() {
    for mix in [YcsbMix::C, YcsbMix::D] {
        let program = Program::new(
            &ProgramSpec::Ycsb(Ycsb { mix, records: 1000, clients: 1, rate: None, think_time: Time(0) }),
            1,
        );
        let mut memory = loaded(&program);
        let mut client = client(&program, 5);
        let mut asked: BTreeMap<String, u32> = BTreeMap::new();
        for _ in 0..20_000 {
            one(&mut client, &mut memory, 0, |statement, reply| {
                if matches!(program.catalogue().shapes[statement.shape as usize], Shape::Get { .. }) {
                    assert_eq!(reply.rows(), 1);
                    *asked.entry(format!("{:?}", statement.parameters.get(0))).or_insert(0) += 1;
                }
            });
        }
        let most = asked.values().max().copied().unwrap_or(0);
        let hottest = asked.iter().filter(|(_, n)| **n * 2 > most).count();
        match mix {
            // Rank one of ten billion has a share of 1 / ζ = 3.8 %.
            YcsbMix::C => assert!((600..1000).contains(&most) && hottest <= 3, "{most}, {hottest}"),
            // The newest record is always another.
            _ => assert!(most < 2000, "{most}"),
        }
    }
}

#[test]
fn documents_are_found_by_each_key_during_ingest() {
    let spec = Document { documents: 400, size: Size(1000), clients: 4, rate: None, think_time: Time(0) };
    let program = Program::new(&ProgramSpec::Document(spec), 1);
    let mut memory = loaded(&program);
    let sizes: Vec<usize> =
        memory.rows(0).map(|row| if let Value::Text(body) = row[1].value() { body.len() } else { 0 }).collect();
    let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
    assert!((mean / 1000.0 - 1.0).abs() < 0.08, "{mean}");
    let (_, done) = work(&program, &mut memory, 4, 200, 3);
    assert_eq!(done.iter().filter(|done| done.kind == 0).count(), 400, "two of four ingest");
    assert_eq!(memory.rows(0).count(), 800);
    let shared = program.shared();
    let mut asking = program.client(3, 4, Seeds { data: 1, run: 8 }, &shared);
    let mut found = [0; 4];
    for _ in 0..200 {
        one(&mut asking, &mut memory, 0, |statement, reply| {
            found[statement.shape as usize] += reply.rows().min(1);
            for row in 0..reply.rows() {
                let body = reply.text(row, reply.width - 1);
                assert!(body.starts_with('{') && body.ends_with("]}"));
                let Value::Int(key) = statement.parameters.get(0) else { panic!("a key") };
                let name = ["", "id", "customer", "day"][statement.shape as usize];
                assert!(body.contains(&format!("\"{name}\":{key},")), "{name} {key}: {body}");
            }
        });
    }
    assert!(found[1..].iter().all(|found| *found > 20), "{found:?}");
}

#[test]
fn think_time_is_exponential_and_changes_no_statement() {
    let of = |think_time| KeyUpdate { tables: 1, rows: 100, row_size: Size(208), clients: 2, rate: None, think_time };
    let mean = 3_000_000.0;
    let seeds = Seeds { data: 1, run: 4 };
    let [mut quick, mut thinking] = [Time(0), Time(mean as u64)].map(|think_time| {
        let spec = ProgramSpec::KeyUpdate(of(think_time));
        let program = Program::new(&spec, 1);
        program.client(1, 2, seeds, &program.shared()).thinking(spec.think_time(), 1, seeds)
    });
    let (mut pauses, mut memories) =
        (vec![], [(); 2].map(|()| loaded(&Program::new(&ProgramSpec::KeyUpdate(of(Time(0))), 1))));
    for _ in 0..2000 {
        let mut asked = [vec![], vec![]];
        let [of_quick, of_thinking] = &mut asked;
        let [first, second] = &mut memories;
        assert_eq!(
            one(&mut quick, first, 0, |statement, _| of_quick.push(format!("{:?}", statement.parameters.get(0))))
                .thinking,
            0
        );
        let done = one(&mut thinking, second, 0, |statement, _| {
            of_thinking.push(format!("{:?}", statement.parameters.get(0)))
        });
        pauses.push(done.thinking as f64);
        assert_eq!(asked[0], asked[1]);
    }
    let found = pauses.iter().sum::<f64>() / pauses.len() as f64;
    let deviation =
        (pauses.iter().map(|pause| (pause - found) * (pause - found)).sum::<f64>() / pauses.len() as f64).sqrt();
    // Four standard errors of two thousand draws.
    assert!((found / mean - 1.0).abs() < 0.09 && (deviation / mean - 1.0).abs() < 0.13, "{found} {deviation}");
}
