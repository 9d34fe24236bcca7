//! Specification of a run: database, program and phases.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use tameshi_base::Slow;
use tameshi_base::units::Time;
use tameshi_workload::program::tpcc::{Sizes, Tpcc};
use tameshi_workload::program::{Program, ProgramSpec, Seeds};

/// Run of a program on a database.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OltpSpec {
    /// Database.
    pub target: Target,
    /// Program with its settings.
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
    /// Ledger of acknowledged commits: each writing transaction leaves a row.
    #[serde(default)]
    pub ledger: Option<Ledger>,
    /// Statements that begin each session of Tameshi's own (loading, checks): they lift limits that
    /// a study sets for its clients.
    #[serde(default)]
    pub own_session: Vec<String>,
    /// Connections that load the data set.
    #[serde(default = "two")]
    pub loaders: u32,
    /// Slow motion of the run.
    #[serde(default)]
    pub slow: Slow,
    /// TPC-C row counts below the specification's, for tests; no study has them.
    #[serde(default)]
    pub sizes: Option<Sizes>,
}

impl OltpSpec {
    /// Program of the run.
    pub fn program(&self) -> Program {
        self.program_of(&self.program)
    }

    /// Create a program on this run's data set.
    pub(crate) fn program_of(&self, program_spec: &ProgramSpec) -> Program {
        match (program_spec, self.sizes) {
            (ProgramSpec::Tpcc(spec), Some(sizes)) => Program::Tpcc(Arc::new(Tpcc::new(spec, sizes, self.data_seed))),
            _ => Program::new(program_spec, self.data_seed),
        }
    }

    /// Seeds of the data set and of the run.
    pub fn seeds(&self) -> Seeds {
        Seeds { data: self.data_seed, run: self.seed }
    }
}

/// Phase of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase.
    pub name: String,
    /// Program of the phase with its settings; absent: the run's.
    #[serde(default)]
    pub program: Option<ProgramSpec>,
    /// Time at its start that estimates leave out.
    #[serde(default)]
    pub ramp: Time,
    /// Its length, ramp included.
    pub time: Time,
}

/// Ledger of acknowledged commits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// Existing folder for the journals, not on the storage under test.
    pub journal: PathBuf,
}

/// Database to load.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// SQLite: a file in an existing folder.
    Sqlite {
        /// Path of the database file.
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

/// Address and login of a server. No message contains the password.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Unix socket (PostgreSQL: its folder, or the socket itself); absent: TCP.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    /// Host for TCP.
    #[serde(default = "localhost")]
    pub host: String,
    /// Port; absent: the product's default.
    #[serde(default)]
    pub port: Option<u16>,
    /// User.
    pub user: String,
    /// Password.
    #[serde(default)]
    pub password: String,
    /// Existing database.
    pub database: String,
    /// Encryption by TCP; a Unix socket has none.
    #[serde(default)]
    pub tls: Tls,
}

/// Encryption of a connection by TCP.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Need for encryption, and checks of the server's certificate.
    #[serde(default)]
    pub mode: TlsMode,
    /// PEM file with the certificates of authorities, for the modes that verify.
    #[serde(default)]
    pub authorities: Option<PathBuf>,
}

/// Modes of libpq's `sslmode`, the weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlsMode {
    /// No encryption.
    Disable,
    /// Encryption if the server offers it.
    #[default]
    Prefer,
    /// Encryption, with any certificate.
    Require,
    /// Encryption, with a certificate of the authorities.
    VerifyCa,
    /// Encryption, with a certificate of the authorities for this host.
    VerifyFull,
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
