//! What is driven: a database, a program, and for how long.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use tameshi_base::units::Time;
use tameshi_workload::program::tpcc::{Sizes, Tpcc};
use tameshi_workload::program::{Program, ProgramSpec, Seeds};

/// One run of a program on a database.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OltpSpec {
    /// The database.
    pub target: Target,
    /// The program with its settings.
    pub program: ProgramSpec,
    /// Seed of the data set.
    pub data_seed: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Length of a recorded interval.
    pub interval: Time,
    /// Phases in order.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// Each transaction that writes leaves a row, by which acknowledged commits are checked.
    #[serde(default)]
    pub ledger: Option<Ledger>,
    /// Connections that load the data set.
    #[serde(default = "two")]
    pub loaders: u32,
    /// Rows of TPC-C where they are fewer than the specification's, for tests; no study has them.
    #[serde(default)]
    pub sizes: Option<Sizes>,
}

impl OltpSpec {
    /// The run's program.
    pub fn program(&self) -> Program {
        self.program_of(&self.program)
    }

    /// A program on this run's data set.
    pub(crate) fn program_of(&self, drives: &ProgramSpec) -> Program {
        match (drives, self.sizes) {
            (ProgramSpec::Tpcc(spec), Some(sizes)) => Program::Tpcc(Arc::new(Tpcc::new(spec, sizes, self.data_seed))),
            _ => Program::new(drives, self.data_seed),
        }
    }

    /// Seeds of the data set and of the run.
    pub fn seeds(&self) -> Seeds {
        Seeds { data: self.data_seed, run: self.seed }
    }
}

/// A stretch of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The program that runs in it, with its settings; absent: that of the whole run.
    #[serde(default)]
    pub program: Option<ProgramSpec>,
    /// Time at its begin that estimates leave out.
    #[serde(default)]
    pub ramp: Time,
    /// Its length, ramp included.
    pub time: Time,
}

/// The ledger of acknowledged commits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The folder that the journal is written to; it exists, and does not lie on what is tested.
    pub journal: PathBuf,
}

/// A database.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// SQLite: a file in a folder that exists.
    Sqlite {
        /// The database file.
        file: PathBuf,
        /// Pragmas of each connection, by name: `synchronous`, `cache_size`, `journal_mode` …
        #[serde(default)]
        pragmas: Vec<(String, String)>,
    },
    /// MariaDB.
    Mariadb(Server),
    /// MySQL.
    Mysql(Server),
    /// PostgreSQL.
    Postgresql(Server),
}

/// Where a server listens, and as whom to log in. The password never stands in a message.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The Unix socket (PostgreSQL: its folder, or the socket itself); without it TCP is used.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    /// Host for TCP.
    #[serde(default = "localhost")]
    pub host: String,
    /// Port; absent: the product's own.
    #[serde(default)]
    pub port: Option<u16>,
    /// User.
    pub user: String,
    /// Password.
    #[serde(default)]
    pub password: String,
    /// Database, which exists.
    pub database: String,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.socket.as_ref().map_or(self.host.clone(), |socket| socket.display().to_string());
        write!(f, "{}@{place}/{}", self.user, self.database)
    }
}

fn localhost() -> String {
    "127.0.0.1".into()
}

fn two() -> u32 {
    2
}
