//! Tables and data set: parts load in parallel by each product's fast path, then indexes are
//! created.

use crate::dialect::Dialect;
use crate::failure::{Failure, FailureKind, OltpError};
use crate::plan::{Plan, has_server};
use crate::session::{Rows, Session};
use crate::spec::{OltpSpec, Target};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tameshi_workload::program::{Chunk, Program, Table};

/// Attempts to load a part before the database's refusal counts.
const MOST_TRIES: u32 = 100;

/// Create the program's tables in an empty database and fill them. `rows` counts loaded rows.
///
/// # Errors
/// The database can't be reached, already has such a table, or refuses a row (a full disk).
pub fn load(spec: &OltpSpec, rows: &AtomicU64) -> Result<u64, OltpError> {
    let date = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    load_program(spec, &spec.program(), date, rows)
}

/// Names of the tables that [`load`] creates.
pub fn tables(spec: &OltpSpec) -> Vec<String> {
    let plan = Plan::new(spec, &spec.program());
    plan.catalogue.tables.iter().map(|table| table.name.to_string()).collect()
}

/// Like [`load`], with a given program (perhaps with fewer rows than its specification), and a date
/// for its rows in seconds since 1970.
///
/// # Errors
/// As for [`load`].
pub fn load_program(spec: &OltpSpec, program: &Program, date: i64, rows: &AtomicU64) -> Result<u64, OltpError> {
    let plan = Plan::new(spec, program);
    let dialect = Dialect::of(&spec.target);
    let loading = for_loading(&spec.target);
    let mut session = Session::own(&loading, &plan, &spec.own_session).map_err(OltpError::database("connecting"))?;
    for table in &plan.catalogue.tables {
        let made = session.plain(&dialect.create(table));
        made.map_err(OltpError::database(format!("making table {}", table.name)))?;
    }
    commit(&mut session)?;
    let chunks = program.chunks();
    let loaders = if has_server(&spec.target) { spec.loaders.clamp(1, 64) } else { 1 };
    let crew = Crew {
        program,
        plan: &plan,
        chunks: &chunks,
        date,
        next: AtomicUsize::new(0),
        rows,
        failed: AtomicBool::new(false),
    };
    let open = || Session::own(&loading, &plan, &spec.own_session);
    let failures: Vec<Failure> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..loaders).map(|_| scope.spawn(|| crew.work(open()?))).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok().and_then(Result::err)).collect()
    });
    if let Some(failure) = failures.into_iter().next() {
        return Err(OltpError::database("loading")(failure));
    }
    for table in &plan.catalogue.tables {
        for text in dialect.indexes(table) {
            session.plain(&text).map_err(OltpError::database(format!("indexing table {}", table.name)))?;
        }
    }
    commit(&mut session)?;
    gather_statistics(dialect, &plan, &mut session).map_err(OltpError::database("gathering statistics"))?;
    Ok(rows.load(Ordering::Relaxed))
}

/// Commit: with `autocommit = 0` even creating a table leaves a transaction open.
fn commit(session: &mut Session) -> Result<(), OltpError> {
    if matches!(session, Session::Mysql(_)) {
        session.commit().map_err(OltpError::database("committing"))?;
    }
    Ok(())
}

/// Target for loading. SQLite needs no durability then: an interrupted load starts again.
fn for_loading(target: &Target) -> Target {
    match target {
        Target::Sqlite { file, pragmas } => {
            let fast = [("journal_mode", "OFF"), ("synchronous", "OFF"), ("cache_size", "-65536")];
            let kept = pragmas.iter().filter(|(name, _)| name == "page_size").cloned();
            let pragmas = kept.chain(fast.map(|(name, value)| (name.into(), value.into()))).collect();
            Target::Sqlite { file: file.clone(), pragmas }
        }
        other => other.clone(),
    }
}

fn gather_statistics(dialect: Dialect, plan: &Plan, session: &mut Session) -> Result<(), Failure> {
    match dialect {
        Dialect::Sqlite => session.plain("ANALYZE"),
        Dialect::Mysql => Ok(()),
        Dialect::Postgresql => {
            plan.catalogue.tables.iter().try_for_each(|table| session.plain(&format!("VACUUM ANALYZE {}", table.name)))
        }
    }
}

/// Sink for the rows of a part, in one transaction.
trait RowSink {
    fn take(&mut self, table: &Table, rows: &mut Rows<'_>) -> Result<(), Failure>;
    fn take_back(&mut self) -> Result<(), Failure>;
}

impl RowSink for Session {
    fn take(&mut self, table: &Table, rows: &mut Rows<'_>) -> Result<(), Failure> {
        self.load(table, rows)
    }

    fn take_back(&mut self) -> Result<(), Failure> {
        self.roll_back()
    }
}

struct Crew<'a> {
    program: &'a Program,
    plan: &'a Plan,
    chunks: &'a [Chunk],
    date: i64,
    next: AtomicUsize,
    rows: &'a AtomicU64,
    failed: AtomicBool,
}

impl Crew<'_> {
    /// Run one loader: take the next part until there is none.
    fn work(&self, mut session: Session) -> Result<(), Failure> {
        if matches!(session, Session::Mysql(_)) {
            session.plain("SET unique_checks = 0, foreign_key_checks = 0")?;
        }
        while let Some(chunk) = self.chunks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            let done = self.part(&mut session, *chunk);
            if done.is_err() {
                self.failed.store(true, Ordering::Relaxed);
                return done;
            }
        }
        Ok(())
    }

    /// Load one part; retry if the database rolls it back, since loaders of one table can deadlock.
    fn part(&self, into: &mut impl RowSink, chunk: Chunk) -> Result<(), Failure> {
        let table = &self.plan.catalogue.tables[chunk.table];
        let mut tries = 0;
        loop {
            let mut made = 0;
            let done = into.take(table, &mut |take| {
                self.program.populate(chunk, self.date, |row| {
                    take(row);
                    made += 1;
                });
            });
            tries += 1;
            match done {
                Err(failure) if failure.failure_kind == FailureKind::Retry && tries < MOST_TRIES => {
                    into.take_back()?;
                    // Another loader's failure may be the cause, and says more.
                    if self.failed.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                }
                Err(failure) => return Err(failure),
                Ok(()) => {
                    self.rows.fetch_add(made, Ordering::Relaxed);
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::{Size, Time};
    use tameshi_workload::program::{KeyUpdate, ProgramSpec};

    /// Database that refuses the first attempts, each after half of the rows.
    struct RefusingSink {
        failures: Vec<FailureKind>,
        kept: u64,
        taken_back: u32,
    }

    impl RowSink for RefusingSink {
        fn take(&mut self, _: &Table, rows: &mut Rows<'_>) -> Result<(), Failure> {
            let mut taken = 0;
            rows(&mut |_| taken += 1);
            match self.failures.pop() {
                Some(failure_kind) => Err(Failure::new(failure_kind, "1213", "Deadlock found")),
                None => {
                    self.kept += taken;
                    Ok(())
                }
            }
        }

        fn take_back(&mut self) -> Result<(), Failure> {
            self.taken_back += 1;
            Ok(())
        }
    }

    /// Load the first part of a table of seven rows. Return the result, the rows counted, the rows
    /// kept, and the number of rollbacks.
    fn loaded(failures: Vec<FailureKind>, others_failed: bool) -> (Result<(), Failure>, u64, u64, u32) {
        let of = KeyUpdate { tables: 1, rows: 7, row_size: Size(100), clients: 1, rate: None, think_time: Time(0) };
        let spec = OltpSpec {
            own_session: Vec::new(),
            target: Target::Sqlite { file: "none".into(), pragmas: Vec::new() },
            program: ProgramSpec::KeyUpdate(of),
            data_seed: 1,
            seed: 1,
            interval: tameshi_base::Time(1),
            phases: Vec::new(),
            ledger: None,
            loaders: 1,
            slow: tameshi_base::Slow::NONE,
            sizes: None,
        };
        let (program, rows) = (spec.program(), AtomicU64::new(0));
        let plan = Plan::new(&spec, &program);
        let chunks = program.chunks();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(others_failed));
        let crew = Crew { program: &program, plan: &plan, chunks: &chunks, date: 0, next, rows: &rows, failed };
        let mut database = RefusingSink { failures, kept: 0, taken_back: 0 };
        let done = crew.part(&mut database, chunks[0]);
        (done, rows.load(Ordering::Relaxed), database.kept, database.taken_back)
    }

    #[test]
    fn deadlocked_part_is_loaded_again_and_counted_once() {
        assert_eq!(loaded(vec![], false), (Ok(()), 7, 7, 0));
        assert_eq!(loaded(vec![FailureKind::Retry; 3], false), (Ok(()), 7, 7, 3));
    }

    #[test]
    fn final_failures_and_endless_deadlocks_are_given_up() {
        for (failures, backs) in [(vec![FailureKind::Final], 0), (vec![FailureKind::Lost; 2], 0)] {
            let (done, rows, kept, taken_back) = loaded(failures, false);
            assert!(done.is_err() && (rows, kept, taken_back) == (0, 0, backs));
        }
        let (done, rows, kept, taken_back) = loaded(vec![FailureKind::Retry; MOST_TRIES as usize], false);
        assert_eq!(done.expect_err("given up").code, "1213");
        assert_eq!((rows, kept, taken_back), (0, 0, MOST_TRIES - 1));
    }

    #[test]
    fn deadlock_after_another_failure_reports_that_failure() {
        assert_eq!(loaded(vec![FailureKind::Retry], true), (Ok(()), 0, 0, 1));
    }
}
