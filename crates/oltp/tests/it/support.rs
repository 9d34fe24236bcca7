//! Databases for tests.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use tameshi_base::Time;
use tameshi_oltp::{Ledger, OltpSpec, Phase, Target, load_program};
use tameshi_workload::program::tpcc::Sizes;
use tameshi_workload::program::{Delivery, Manner, Program, ProgramSpec, Tpcc, Waits};

/// Date of loading.
pub const DATE: i64 = 1_000_000_000;

/// Small data set that loads quickly.
pub const SMALL: Sizes = Sizes { items: 400, districts: 10, customers: 30 };

/// A SQLite file in the folder.
pub fn sqlite(folder: &Path) -> Target {
    let pragmas = [("journal_mode", "WAL"), ("synchronous", "NORMAL")];
    let pragmas = pragmas.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
    Target::Sqlite { file: folder.join("data.sqlite"), pragmas }
}

/// TPC-C of two warehouses.
pub fn tpcc(clients: u32, manner: Manner, delivery: Delivery) -> Tpcc {
    Tpcc { warehouses: Some(2), clients, manner, waits: Waits::None, delivery, rate: None }
}

/// Run of one phase.
pub fn spec(folder: &Path, program: ProgramSpec, milliseconds: u64) -> OltpSpec {
    let time = Time(milliseconds * 1_000_000);
    OltpSpec {
        target: sqlite(folder),
        program,
        data_seed: 1,
        seed: 2,
        interval: Time(100_000_000),
        phases: vec![Phase { name: "run".into(), program: None, ramp: Time(time.0 / 4), time }],
        ledger: Some(Ledger { journal: folder.to_path_buf() }),
        own_session: Vec::new(),
        loaders: 2,
        slow: tameshi_base::Slow::NONE,
        sizes: Some(SMALL),
    }
}

/// Load the run's program.
pub fn loaded(spec: &OltpSpec) -> Program {
    let program = spec.program();
    let rows = load_program(spec, &program, DATE, &AtomicU64::new(0)).expect("loaded");
    assert_eq!(rows > 0, !program.chunks().is_empty());
    program
}
