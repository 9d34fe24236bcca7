//! Database engines and their settings.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::Size;

/// The engines that a study may name, by product.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Engines {
    /// MySQL.
    pub mysql: Option<Engine>,
    /// MariaDB.
    pub mariadb: Option<Engine>,
    /// PostgreSQL.
    pub postgresql: Option<Engine>,
    /// SQLite.
    pub sqlite: Option<Engine>,
}

impl Engines {
    /// The engines that are given, by product.
    pub fn by_name(&self) -> IndexMap<String, Engine> {
        let products = [
            ("mysql", &self.mysql),
            ("mariadb", &self.mariadb),
            ("postgresql", &self.postgresql),
            ("sqlite", &self.sqlite),
        ];
        products.into_iter().filter_map(|(name, engine)| Some((name.to_string(), engine.clone()?))).collect()
    }
}

/// Settings of an engine in engine-neutral words; absent: the product's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Engine {
    /// Version, as far as it matters: `"5.5"`.
    pub version: Option<String>,
    /// Memory for pages: innodb_buffer_pool_size, shared_buffers, cache_size.
    pub buffer_pool: Option<Size>,
    /// Total size of the redo log or write-ahead log.
    pub redo_log: Option<Size>,
    /// Method to write files: O_DIRECT, fsync …
    pub flush_method: Option<String>,
    /// Protection against torn pages.
    pub doublewrite: Option<Doublewrite>,
    /// Commits between flushes of the log: innodb_flush_log_at_trx_commit and its kin, in the
    /// product's own values.
    pub commit: Option<String>,
    /// A server that runs already, as a connection string without its secret; it is sampled and
    /// never configured.
    pub dsn: Option<String>,
    /// Any further option of the product, by its own name.
    pub options: IndexMap<String, String>,
}

/// Protection against torn pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doublewrite {
    /// Pages are written twice.
    On,
    /// Pages are written once, without protection.
    Off,
    /// Pages are written once; the device writes them atomically.
    Atomic,
}
