//! Workloads: storage streams, and the programs that drive a database.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::Time;
use tameshi_workload::StreamSpec;
use tameshi_workload::program::ProgramSpec;
pub use tameshi_workload::program::{Document, KeyUpdate, Oltp, Pgbench, Scan, Tpcc, Ycsb};

/// Workloads of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Workloads {
    /// Storage streams by name.
    pub stream: IndexMap<String, StreamSpec>,
    /// TPC-C.
    pub tpcc: Option<Tpcc>,
    /// sysbench's OLTP transactions.
    pub oltp: Option<Oltp>,
    /// Single-row updates by key.
    pub key_update: Option<KeyUpdate>,
    /// One full scan.
    pub scan: Option<Scan>,
    /// YCSB.
    pub ycsb: Option<Ycsb>,
    /// Documents ingested and queried at once.
    pub document: Option<Document>,
    /// pgbench's transactions.
    pub pgbench: Option<Pgbench>,
    /// A recorded trace.
    pub trace: Option<Trace>,
}

impl Workloads {
    /// The program of this name, where it is given.
    pub fn program(&self, name: &str) -> Option<ProgramSpec> {
        match name {
            "tpcc" => self.tpcc.clone().map(ProgramSpec::Tpcc),
            "oltp" => self.oltp.clone().map(ProgramSpec::Oltp),
            "key_update" => self.key_update.clone().map(ProgramSpec::KeyUpdate),
            "scan" => self.scan.clone().map(ProgramSpec::Scan),
            "ycsb" => self.ycsb.clone().map(ProgramSpec::Ycsb),
            "document" => self.document.clone().map(ProgramSpec::Document),
            "pgbench" => self.pgbench.clone().map(ProgramSpec::Pgbench),
            _ => None,
        }
    }

    /// Names under which phases may use the workloads.
    pub fn names(&self) -> Vec<String> {
        let programs = [
            ("tpcc", self.tpcc.is_some()),
            ("oltp", self.oltp.is_some()),
            ("key_update", self.key_update.is_some()),
            ("scan", self.scan.is_some()),
            ("ycsb", self.ycsb.is_some()),
            ("document", self.document.is_some()),
            ("pgbench", self.pgbench.is_some()),
            ("trace", self.trace.is_some()),
        ];
        let streams = self.stream.keys().map(|name| format!("stream.{name}"));
        streams.chain(programs.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_string())).collect()
    }
}

/// A recorded trace, replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Name of the trace; bound to a file like a storage.
    pub name: String,
    /// Position in the trace at which to begin.
    #[serde(default)]
    pub from: Time,
}
