//! Programs as written in a study: `[workload.tpcc]` and others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Size, Time};

/// A program with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProgramSpec {
    /// TPC-C.
    Tpcc(Tpcc),
    /// sysbench's OLTP transactions.
    Oltp(Oltp),
    /// Single-row updates by key.
    KeyUpdate(KeyUpdate),
    /// Full scans.
    Scan(Scan),
    /// YCSB.
    Ycsb(Ycsb),
    /// Documents ingested and queried at once.
    Document(Document),
    /// pgbench's transactions.
    Pgbench(Pgbench),
}

impl ProgramSpec {
    /// The word that studies call it by.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Tpcc(_) => "tpcc",
            Self::Oltp(_) => "oltp",
            Self::KeyUpdate(_) => "key_update",
            Self::Scan(_) => "scan",
            Self::Ycsb(_) => "ycsb",
            Self::Document(_) => "document",
            Self::Pgbench(_) => "pgbench",
        }
    }

    /// Connections that work at once.
    pub fn clients(&self) -> u32 {
        match self {
            Self::Tpcc(spec) => spec.clients,
            Self::Oltp(spec) => spec.clients,
            Self::KeyUpdate(spec) => spec.clients,
            Self::Scan(spec) => spec.clients,
            Self::Ycsb(spec) => spec.clients,
            Self::Document(spec) => spec.clients,
            Self::Pgbench(spec) => spec.clients,
        }
    }

    /// Transactions per second of all connections in open loop; `None` in closed loop.
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Self::Tpcc(spec) => spec.rate,
            Self::Oltp(spec) => spec.rate,
            Self::KeyUpdate(spec) => spec.rate,
            Self::Scan(_) => None,
            Self::Ycsb(spec) => spec.rate,
            Self::Document(spec) => spec.rate,
            Self::Pgbench(spec) => spec.rate,
        }
    }

    /// Mean pause of a connection's user after a transaction; TPC-C has times of its own.
    pub fn think_time(&self) -> Time {
        match self {
            Self::Tpcc(_) => Time(0),
            Self::Oltp(spec) => spec.think_time,
            Self::KeyUpdate(spec) => spec.think_time,
            Self::Scan(spec) => spec.think_time,
            Self::Ycsb(spec) => spec.think_time,
            Self::Document(spec) => spec.think_time,
            Self::Pgbench(spec) => spec.think_time,
        }
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
    /// Keying and think times; without them a connection starts its next transaction at once.
    #[serde(default)]
    pub waits: Waits,
    /// Deliveries at once, or queued and carried out in the background (manner `specification`
    /// only).
    #[serde(default)]
    pub delivery: Delivery,
    /// Transactions per second in open loop; absent: closed loop.
    #[serde(default)]
    pub rate: Option<Rate>,
}

/// Rules that TPC-C follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Manner {
    /// The specification's.
    #[default]
    Specification,
    /// The tool's: no think time, shared deck, uniform warehouses.
    TpccMysql,
}

/// True if a terminal's user takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Waits {
    /// No time.
    #[default]
    None,
    /// Keying times and mean think times of the specification.
    Specification,
}

/// When TPC-C's deliveries are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// By the connection that asked, before its next transaction.
    #[default]
    AtOnce,
    /// Queued; another connection carries them out.
    Deferred,
}

/// sysbench's OLTP transactions. The table layout and the names and defaults of the options are
/// sysbench's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oltp {
    /// Script of sysbench.
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
    /// Mean of the exponential pauses between a transaction and the connection's next one (closed
    /// loop only).
    #[serde(default, skip_serializing_if = "is_none")]
    pub think_time: Time,
    /// Distribution of popular keys: sysbench's `--rand-type`.
    #[serde(default)]
    pub popularity: Popularity,
    /// Rows in a range select.
    #[serde(default = "hundred")]
    pub range_size: u64,
    /// Point selects in a transaction.
    #[serde(default = "ten")]
    pub point_selects: u32,
    /// Selects of a range in a transaction.
    #[serde(default = "one")]
    pub simple_ranges: u32,
    /// Selects of a range's sum in a transaction.
    #[serde(default = "one")]
    pub sum_ranges: u32,
    /// Selects of a sorted range in a transaction.
    #[serde(default = "one")]
    pub order_ranges: u32,
    /// Selects of a range's different values in a transaction.
    #[serde(default = "one")]
    pub distinct_ranges: u32,
    /// Updates of the indexed column in a transaction.
    #[serde(default = "one")]
    pub index_updates: u32,
    /// Updates of another column in a transaction.
    #[serde(default = "one")]
    pub non_index_updates: u32,
    /// Deletes, each with an insert of the same key, in a transaction.
    #[serde(default = "one")]
    pub delete_inserts: u32,
    /// Every statement on its own, without a transaction around them: sysbench's `--skip-trx`.
    #[serde(default)]
    pub skip_trx: bool,
    /// Without it the selects of ranges are left out: sysbench's `--range_selects`.
    #[serde(default = "yes")]
    pub range_selects: bool,
    /// Rows are numbered by the database, or else by the client: then `insert` begins with empty
    /// tables.
    #[serde(default = "yes")]
    pub auto_inc: bool,
    /// A secondary index on the row's number in place of the primary key.
    #[serde(default)]
    pub secondary: bool,
    /// The secondary index on `k`.
    #[serde(default = "yes")]
    pub create_secondary: bool,
    /// Storage engine of the tables on MariaDB and MySQL: `innodb`, or another that the server has.
    #[serde(default = "innodb")]
    pub mysql_storage_engine: String,
    /// Reconnect after this many transactions; 0: never.
    #[serde(default)]
    pub reconnect: u32,
    /// Statements prepared once, or sent as text each time: sysbench's `--db-ps-mode`.
    #[serde(default)]
    pub db_ps_mode: PsMode,
    /// Number of draws that `gaussian` and `special` average.
    #[serde(default = "twelve")]
    pub rand_spec_iter: u32,
    /// Share of the keys that `special` favours, in percent.
    #[serde(default = "one")]
    pub rand_spec_pct: u32,
    /// Share of the draws that fall on them, in percent.
    #[serde(default = "seventy_five")]
    pub rand_spec_res: u32,
    /// Shape of `pareto`, between 0 and 1.
    #[serde(default = "pareto_shape")]
    pub rand_pareto_h: f64,
    /// Exponent of `zipfian`, above 0.
    #[serde(default = "zipfian_exponent")]
    pub rand_zipfian_exp: f64,
}

/// True if statements are prepared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PsMode {
    /// Prepared once for each connection.
    #[default]
    Auto,
    /// Sent as text with their values each time.
    Disable,
}

impl Oltp {
    /// A script with sysbench's defaults.
    pub fn of(mix: OltpMix, clients: u32, tables: u32, rows: u64) -> Self {
        let (popularity, one) = (Popularity::Special, 1);
        Self {
            mix,
            clients,
            tables,
            rows,
            rate: None,
            think_time: Time(0),
            popularity,
            range_size: 100,
            point_selects: 10,
            simple_ranges: one,
            sum_ranges: one,
            order_ranges: one,
            distinct_ranges: one,
            index_updates: one,
            non_index_updates: one,
            delete_inserts: one,
            skip_trx: false,
            range_selects: true,
            auto_inc: true,
            secondary: false,
            create_secondary: true,
            mysql_storage_engine: innodb(),
            reconnect: 0,
            db_ps_mode: PsMode::Auto,
            rand_spec_iter: twelve(),
            rand_spec_pct: one,
            rand_spec_res: seventy_five(),
            rand_pareto_h: pareto_shape(),
            rand_zipfian_exp: zipfian_exponent(),
        }
    }

    /// Rows of a table after loading: none where clients number the rows that they insert.
    pub fn loaded_rows(&self) -> u64 {
        if self.mix == OltpMix::Insert && !self.auto_inc { 0 } else { self.rows }
    }
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
    /// oltp_insert.
    Insert,
    /// oltp_delete.
    Delete,
}

/// Distribution of popular keys, under the names of sysbench 1.0, with its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Popularity {
    /// A quarter normal over all keys, three quarters in the middle hundredth: the default of
    /// sysbench 1.0. The shares are `rand_spec_pct` and `rand_spec_res`.
    #[default]
    Special,
    /// All alike: the default of sysbench's later master.
    Uniform,
    /// The mean of twelve (`rand_spec_iter`) uniform draws.
    Gaussian,
    /// Four fifths to the first fifth (`rand_pareto_h` = 0.2).
    Pareto,
    /// Zipf with exponent 0.8 (`rand_zipfian_exp`).
    Zipfian,
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
    /// Updates per second in open loop; absent: closed loop.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Mean of the exponential pauses between a transaction and the connection's next one (closed
    /// loop only).
    #[serde(default, skip_serializing_if = "is_none")]
    pub think_time: Time,
}

/// One full scan of a table after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// Size of the table.
    pub size: Size,
    /// Connections that scan at once.
    #[serde(default = "one")]
    pub clients: u32,
    /// Mean of the exponential pauses between a transaction and the connection's next one (closed
    /// loop only).
    #[serde(default, skip_serializing_if = "is_none")]
    pub think_time: Time,
}

/// YCSB's core workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ycsb {
    /// A to F.
    pub mix: YcsbMix,
    /// Records.
    pub records: u64,
    /// Connections that work at once.
    pub clients: u32,
    /// Operations per second in open loop; absent: closed loop.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Mean of the exponential pauses between a transaction and the connection's next one (closed
    /// loop only).
    #[serde(default, skip_serializing_if = "is_none")]
    pub think_time: Time,
}

/// YCSB's core workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum YcsbMix {
    /// Half reads, half updates.
    A,
    /// 95 % reads, 5 % updates.
    B,
    /// Reads only.
    C,
    /// 95 % reads of new records, 5 % inserts.
    D,
    /// 95 % short scans, 5 % inserts.
    E,
    /// Half reads, half read-modify-writes.
    F,
}

/// Documents ingested and queried at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Documents at the begin; clients ingest more.
    pub documents: u64,
    /// Mean size of one.
    pub size: Size,
    /// Connections: the first half of them ingests, the others query.
    pub clients: u32,
    /// Operations per second in open loop; absent: closed loop.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Mean of the exponential pauses between a transaction and the connection's next one (closed
    /// loop only).
    #[serde(default, skip_serializing_if = "is_none")]
    pub think_time: Time,
}

/// pgbench's built-in transactions on its tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pgbench {
    /// Built-in script.
    #[serde(default)]
    pub mix: PgbenchMix,
    /// Connections that work at once.
    pub clients: u32,
    /// Size of the data set: 100000 accounts, 10 tellers and a branch for each.
    #[serde(default = "one")]
    pub scale: u32,
    /// Transactions per second in open loop; absent: closed loop.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Mean of the exponential pauses between a transaction and the connection's next one (closed
    /// loop only).
    #[serde(default, skip_serializing_if = "is_none")]
    pub think_time: Time,
}

/// pgbench's built-in scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PgbenchMix {
    /// tpcb-like: three updates, a select and an insert.
    #[default]
    TpcbLike,
    /// simple-update (`-N`): an update, a select and an insert.
    SimpleUpdate,
    /// select-only (`-S`).
    SelectOnly,
}

fn is_none(time: &Time) -> bool {
    time.0 == 0
}

fn one() -> u32 {
    1
}

fn ten() -> u32 {
    10
}

fn hundred() -> u64 {
    100
}

fn twelve() -> u32 {
    12
}

fn seventy_five() -> u32 {
    75
}

fn yes() -> bool {
    true
}

fn innodb() -> String {
    "innodb".into()
}

fn pareto_shape() -> f64 {
    0.2
}

fn zipfian_exponent() -> f64 {
    0.8
}
