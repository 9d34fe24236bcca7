//! Workloads: storage streams, and the programs that drive a database.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Size, Time};
use tameshi_workload::StreamSpec;

/// What may ask for work.
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
    /// A recorded trace.
    pub trace: Option<Trace>,
}

impl Workloads {
    /// Names under which phases may call on what is given.
    pub fn names(&self) -> Vec<String> {
        let programs = [
            ("tpcc", self.tpcc.is_some()),
            ("oltp", self.oltp.is_some()),
            ("key_update", self.key_update.is_some()),
            ("scan", self.scan.is_some()),
            ("ycsb", self.ycsb.is_some()),
            ("document", self.document.is_some()),
            ("trace", self.trace.is_some()),
        ];
        let streams = self.stream.keys().map(|name| format!("stream.{name}"));
        streams.chain(programs.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_string())).collect()
    }
}

/// TPC-C.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tpcc {
    /// Size of the data set: warehouses.
    #[serde(default)]
    pub warehouses: Option<u32>,
    /// Connections that work at once.
    pub clients: u32,
    /// By the specification, or as the well-known tool does it.
    #[serde(default)]
    pub manner: Manner,
    /// Transactions per second in open loop; absent: closed loop.
    #[serde(default)]
    pub rate: Option<Rate>,
}

/// Whose rules TPC-C follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Manner {
    /// The specification's.
    #[default]
    Specification,
    /// The tool's: no think time, shared deck, uniform warehouses.
    TpccMysql,
}

/// sysbench's OLTP transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oltp {
    /// Which of sysbench's scripts.
    pub mix: OltpMix,
    /// Connections that work at once.
    pub clients: u32,
    /// Number of tables.
    pub tables: u32,
    /// Rows per table.
    pub rows: u64,
    /// Transactions per second in open loop; absent: closed loop.
    #[serde(default)]
    pub rate: Option<Rate>,
}

/// sysbench's scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OltpMix {
    /// oltp_read_write.
    ReadWrite,
    /// oltp_read_only.
    ReadOnly,
    /// oltp_write_only.
    WriteOnly,
    /// oltp_point_select.
    PointSelect,
    /// oltp_update_index.
    UpdateIndex,
    /// oltp_update_non_index.
    UpdateNonIndex,
}

/// Single-row updates by key, each its own transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyUpdate {
    /// Number of tables.
    pub tables: u32,
    /// Rows over all tables.
    pub rows: u64,
    /// Bytes of a row.
    pub row_size: Size,
    /// Connections that work at once.
    pub clients: u32,
}

/// One full scan of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// Size of the table.
    pub size: Size,
    /// Connections that scan at once.
    #[serde(default = "one")]
    pub clients: u32,
}

/// YCSB's core workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ycsb {
    /// A to F.
    pub mix: String,
    /// Records.
    pub records: u64,
    /// Connections that work at once.
    pub clients: u32,
}

/// Documents ingested and queried at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Documents to ingest.
    pub documents: u64,
    /// Mean size of one.
    pub size: Size,
    /// Connections that ingest and query.
    pub clients: u32,
}

/// A recorded trace, replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Name of the trace; bound to a file like a storage.
    pub name: String,
    /// Where in the trace to begin.
    #[serde(default)]
    pub from: Time,
}

fn one() -> u32 {
    1
}
