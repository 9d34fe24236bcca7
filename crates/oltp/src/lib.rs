//! Load driver for real databases: turns a program's statements into SQL, loads its data set, runs
//! its clients, and checks the result.
//!
//! The only crate with database clients. Each client is a thread with its own connection. It
//! survives the crash and the return of the server under load.

mod check;
mod client;
mod clock;
mod conditions;
mod dialect;
mod failure;
mod innodb_pages;
mod journal;
mod load;
mod outage;
mod plan;
mod power;
mod profile;
mod run;
mod session;
mod spec;

pub use check::{Checked, Condition, LedgerState, check, check_program};
pub use client::MOST_TRIES;
pub use dialect::Dialect;
pub use failure::{Failure, FailureKind, OltpError};
pub use innodb_pages::{PageCheck, check_pages};
pub use journal::Journal;
pub use load::{load, load_program, tables};
pub use plan::Plan;
pub use power::Power;
pub use profile::{Profile, Stage};
pub use run::{RunOutcome, execute, execute_program};
pub use session::Session;
pub use spec::{Ledger, OltpSpec, Phase, Server, Target, Tls, TlsMode};
