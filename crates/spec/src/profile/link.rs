//! Links between hosts: what a replica's writes cross.

use super::Sourced;
use crate::node::Link;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Size, Time};

/// A link profile file: what it is, and its figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkProfile {
    /// The link in one sentence.
    pub description: String,
    /// Its figures.
    pub link: LinkFigures,
}

/// Figures of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFigures {
    /// Time that a command across it takes beyond the same command without it, both ends' work included.
    pub round_trip: Sourced<Time>,
    /// Bytes per second each way.
    pub rate: Sourced<Size>,
}

impl LinkFigures {
    /// The figures without their sources.
    pub fn figures(&self) -> Link {
        Link { round_trip: self.round_trip.value, rate: self.rate.value }
    }
}
