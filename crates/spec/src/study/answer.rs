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
