//! A search for the load that a storage bears: `[search]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Share, Time};

/// Varies the rate of one open-loop stream from run to run: first as shares of what the same stream
/// reaches in closed loop (the load–latency curve), then by bisection for the highest rate that
/// keeps a latency below a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Name of the stream whose rate is varied.
    pub stream: String,
    /// Spacing of requests at a rate.
    #[serde(default)]
    pub arrivals: Spacing,
    /// The curve: rates as shares of the closed-loop maximum.
    #[serde(default = "curve")]
    pub shares: Vec<Share>,
    /// The latency that must not be exceeded; absent: only the curve.
    #[serde(default)]
    pub limit: Option<Limit>,
    /// Final width of the bracket around the answer, as a share of it.
    #[serde(default = "within")]
    pub within: Share,
    /// Most runs of the bisection.
    #[serde(default = "runs_at_most")]
    pub runs_at_most: u32,
    /// Time of all rates' runs together, up to which further rates are chosen where the curve bends
    /// most; absent: none.
    #[serde(default)]
    pub budget: Option<Time>,
}

/// Spacing of requests at a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// At even gaps.
    Constant,
    /// At exponentially distributed gaps.
    #[default]
    Poisson,
}

/// A latency that must not be exceeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Latency of an operation: its mean, maximum, or a percentile, two digits and those behind the
    /// point: `read.latency.p999`.
    pub metric: String,
    /// It must stay below this.
    pub below: Time,
}

fn curve() -> Vec<Share> {
    [100_000, 300_000, 500_000, 700_000, 800_000, 900_000, 950_000].map(Share).to_vec()
}

fn within() -> Share {
    Share(20_000)
}

fn runs_at_most() -> u32 {
    16
}
