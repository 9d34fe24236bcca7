//! Standby of a database: a second server that follows the first one by its log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Second server of the database, in a host of its own on a drive of its own, alike the first.
///
/// The emulated world runs it; the simulated world mirrors blocks instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Standby {
    /// Replication by the server's own log; absent: no standby.
    pub replication: Option<Replication>,
    /// Name of a link of the study, or of a link profile, between both hosts.
    pub link: Option<String>,
}

/// Replication by a server's log: what a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replication {
    /// Nothing of the standby.
    Asynchronous,
    /// The standby has received it (MariaDB, after sync).
    SemiSynchronous,
    /// The standby's kernel has it (PostgreSQL).
    RemoteWrite,
    /// The standby's drive has it (PostgreSQL).
    On,
    /// Queries on the standby see it (PostgreSQL).
    RemoteApply,
}

impl Replication {
    /// Replications of a product, by its engine's name in studies.
    pub fn of(engine: &str) -> &'static [Self] {
        match engine {
            "mysql" | "mariadb" => &[Self::Asynchronous, Self::SemiSynchronous],
            "postgresql" => &[Self::Asynchronous, Self::RemoteWrite, Self::On, Self::RemoteApply],
            _ => &[],
        }
    }
}

impl fmt::Display for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asynchronous => "asynchronous",
            Self::SemiSynchronous => "semi_synchronous",
            Self::RemoteWrite => "remote_write",
            Self::On => "on",
            Self::RemoteApply => "remote_apply",
        })
    }
}
