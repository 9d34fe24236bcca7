//! Answer of a report: `[answer]`.

use super::Scalar;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Comparison in the first sentence of the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// By axis and level the level that it is compared with (`levels.configuration = { pair =
    /// "alone" }`); other names are left out. Absent, and no `phases` either: of every axis
    /// each level with the first, of numbers the last.
    pub levels: IndexMap<String, IndexMap<String, Scalar>>,
    /// By phase the phase that it is compared with, cell by cell (`{ failed = "normal" }`). Absent:
    /// phases are left out.
    pub phases: IndexMap<String, Scalar>,
    /// Figures shown besides the rates of programs, the time of scans, and outages.
    pub tell: Vec<AnswerFigure>,
    /// Metric of the tables: of the registry, `all.iops`, `all.bandwidth` or `all.latency.mean`;
    /// needed where a table has none of its own.
    pub metric: Option<String>,
    /// Subject of the metric, such as a stream or `tpcc`; absent: the first that has it.
    pub subject: Option<String>,
    /// Tables that the answer begins with. Its first sentence compares their columns.
    pub table: Vec<AnswerTable>,
}

/// Table of an answer: a metric by levels of axes. Where other axes are open, the best of their
/// cells counts: the greatest rate, the least latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerTable {
    /// Axis whose levels are the rows.
    pub rows: String,
    /// Axes whose levels, combined, are the columns; absent: one column.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Levels of other axes in all cells of the table; absent: open.
    #[serde(default)]
    pub at: IndexMap<String, Scalar>,
    /// Levels of the cell that each cell is compared with, in place of its own
    /// (`{ storage = "disk", buffer_pool = "small" }`); absent: values without ratios.
    #[serde(default)]
    pub base: IndexMap<String, Scalar>,
    /// True if ratios are in per cent of the base, false if as factors.
    #[serde(default)]
    pub percent: bool,
    /// Metric instead of the answer's.
    #[serde(default)]
    pub metric: Option<String>,
    /// Subject instead of the answer's.
    #[serde(default)]
    pub subject: Option<String>,
    /// Phase of the cells; absent: the only one, or any that has the metric.
    #[serde(default)]
    pub phase: Option<String>,
}

/// Figure that an answer may show besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFigure {
    /// Lifetime of the drives at this rate of writing.
    Life,
    /// Mean latency of all reads and writes of storage streams.
    Latency,
}

/// A study's own words in Japanese, for reports in that language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Japanese {
    /// Title.
    pub title: Option<String>,
    /// Question.
    pub question: Option<String>,
    /// Names of axes, levels, phases and streams.
    pub names: IndexMap<String, String>,
}
