//! Phases that are repeated together: `[rounds.NAME]`.

use crate::run::SteadyRule;
use crate::study::Scalar;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Neighbouring phases, at all their levels, that are one round: repeated `times`, or until
/// `steady`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// The phases of a round, neighbours in the order written.
    pub phases: Vec<String>,
    /// The axes within the run that are outside: at each combination of their levels the rounds
    /// begin anew.
    #[serde(default)]
    pub over: Vec<String>,
    /// Number of rounds; estimates are taken over all of them.
    #[serde(default)]
    pub times: Option<u32>,
    /// Rounds until steady state; estimates are taken over the last window.
    #[serde(default)]
    pub steady: Option<SteadyRule>,
    /// Phases that must be steady; absent: all, at all their levels.
    #[serde(default)]
    pub tracked: Option<Vec<Tracked>>,
}

/// A phase that must be steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tracked {
    /// Its name.
    pub phase: String,
    /// At these levels; absent: at all.
    #[serde(default)]
    pub levels: IndexMap<String, Scalar>,
}
