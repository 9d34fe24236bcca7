//! Checks of program settings: amounts of zero, think time with a rate, sysbench's options.

use crate::errors::{bad_value, not_zero};
use crate::run::RunSpec;
use crate::toml::document::{Source, Table};
use tameshi_base::{InputError, InputErrorKind};
use tameshi_workload::program::{Delivery, KeyUpdate, Manner, Oltp, ProgramSpec, Tpcc, Waits};

type Checked = Result<(), InputError>;

/// The programs of a run.
pub(crate) fn check(source: Source<'_>, table: &Table<'_>, run: &RunSpec) -> Checked {
    for program in run.phases.iter().flat_map(|phase| &phase.programs) {
        amounts(source, table, program)?;
        pauses(source, table, program)?;
        match program {
            ProgramSpec::Tpcc(tpcc) => deliveries(source, table, tpcc)?,
            ProgramSpec::Oltp(oltp) => options(source, table, oltp)?,
            ProgramSpec::KeyUpdate(update) => rows(source, table, update)?,
            _ => {}
        }
    }
    Ok(())
}

/// Refuse a rate of zero and an empty data set.
fn amounts(source: Source<'_>, table: &Table<'_>, program: &ProgramSpec) -> Checked {
    let (one, size) = (|key, amount: u64| (key, amount, "at least 1"), |size: u64| ("size", size, "a size above zero"));
    let rate = ("rate", program.rate().map_or(1, |rate| rate.0), "a rate above zero");
    let mut all = vec![rate, one("clients", program.clients().into())];
    match program {
        ProgramSpec::Tpcc(tpcc) => all.push(one("warehouses", tpcc.warehouses.map_or(1, u64::from))),
        ProgramSpec::Oltp(oltp) => all.extend([one("tables", oltp.tables.into()), one("rows", oltp.rows)]),
        ProgramSpec::KeyUpdate(update) => all.extend([
            one("tables", update.tables.into()),
            one("rows", update.rows),
            ("row_size", update.row_size.0, "a size above zero"),
        ]),
        ProgramSpec::Scan(scan) => all.push(size(scan.size.0)),
        ProgramSpec::Ycsb(ycsb) => all.push(one("records", ycsb.records)),
        ProgramSpec::Document(document) => all.extend([one("documents", document.documents), size(document.size.0)]),
        ProgramSpec::Pgbench(pgbench) => all.push(one("scale", pgbench.scale.into())),
    }
    all.into_iter().try_for_each(|(key, amount, accepted)| {
        not_zero(source, table, amount, &["workload", program.word(), key], accepted)
    })
}

/// Users think in closed loop only.
fn pauses(source: Source<'_>, table: &Table<'_>, program: &ProgramSpec) -> Checked {
    let key = match program {
        ProgramSpec::Tpcc(tpcc) => (tpcc.waits == Waits::Specification).then_some("waits"),
        _ => (program.think_time().0 > 0).then_some("think_time"),
    };
    let (Some(_), Some(key)) = (program.rate(), key) else { return Ok(()) };
    let message = "think time has no effect with arrivals at a rate";
    Err(at_odds(source, table, &["workload", program.word(), key], message, ["rate", key]))
}

/// The well-known tool knows no background for deliveries.
fn deliveries(source: Source<'_>, table: &Table<'_>, tpcc: &Tpcc) -> Checked {
    if tpcc.delivery == Delivery::AtOnce || tpcc.manner == Manner::Specification {
        return Ok(());
    }
    let message = "tpcc-mysql carries out deliveries at once";
    let accepted = ["delivery = \"at_once\"", "manner = \"specification\""];
    Err(at_odds(source, table, &["workload", "tpcc", "delivery"], message, accepted))
}

/// Each table has a row.
fn rows(source: Source<'_>, table: &Table<'_>, update: &KeyUpdate) -> Checked {
    if update.rows >= u64::from(update.tables) {
        return Ok(());
    }
    let accepted = format!("at least {}, one for each table", update.tables);
    Err(bad_value(source, table, &["workload", "key_update", "rows"], "these are too few for the tables", &accepted))
}

/// sysbench's options have values that mean something, the storage engine's name stands in SQL, and
/// something is asked.
fn options(source: Source<'_>, table: &Table<'_>, oltp: &Oltp) -> Checked {
    let name = &oltp.mysql_storage_engine;
    let is_word = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let rules = [
        ("mysql_storage_engine", is_word, "a name of letters, digits and underscores, such as `innodb`"),
        ("rand_spec_iter", (1..=1000).contains(&oltp.rand_spec_iter), "1 to 1000"),
        ("rand_spec_pct", (1..=100).contains(&oltp.rand_spec_pct), "1 to 100"),
        ("rand_spec_res", oltp.rand_spec_res <= 100, "0 to 100"),
        ("rand_pareto_h", oltp.rand_pareto_h > 0.0 && oltp.rand_pareto_h < 1.0, "between 0 and 1"),
        ("rand_zipfian_exp", oltp.rand_zipfian_exp > 0.0 && oltp.rand_zipfian_exp <= 10.0, "above 0, up to 10"),
    ];
    if let Some((key, _, accepted)) = rules.iter().find(|(_, holds, _)| !holds) {
        let path = ["workload", "oltp", key];
        return Err(bad_value(source, table, &path, "sysbench's option has no such value", accepted));
    }
    if oltp.asks_nothing() {
        let accepted = "a count above zero of a statement that the mix has";
        return Err(bad_value(
            source,
            table,
            &["workload", "oltp", "mix"],
            "no statement is left of its transaction",
            accepted,
        ));
    }
    Ok(())
}

fn at_odds(source: Source<'_>, table: &Table<'_>, path: &[&str], message: &str, accepted: [&str; 2]) -> InputError {
    let mut error = source.error_at(table, path, InputErrorKind::Conflict, message);
    error.accepted = accepted.map(String::from).to_vec();
    error
}
