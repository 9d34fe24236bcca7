//! Drive queue of a stream's requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A class of queues of a drive, as NVMe has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Before all others.
    Urgent,
    /// By the weight `high`.
    High,
    /// By the weight `medium`.
    #[default]
    Medium,
    /// By the weight `low`.
    Low,
}
