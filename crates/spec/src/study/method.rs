//! The published method that a study follows: `[method]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A published method, and where the study departs from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Its name and version.
    pub name: String,
    /// Deviations that the study itself makes, as sentences; those of the run (a model, no purge, a
    /// virtual disk, the quick part …) are added to them.
    #[serde(default)]
    pub deviations: Vec<String>,
}
