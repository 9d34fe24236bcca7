//! A device without any cost.

use super::Sourced;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::Size;

/// A device without any cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NullProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
}
