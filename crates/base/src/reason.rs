//! Reasons as data: a code with values; reports phrase them.

use serde::Serialize;
use std::collections::BTreeMap;

/// Reason why an event did not happen, or why a result is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Key of the text in the report's table.
    pub code: &'static str,
    /// Name in the study that the reason concerns; empty if none.
    pub subject: String,
    /// Numbers that the text names.
    pub values: BTreeMap<&'static str, u64>,
}

impl Reason {
    /// Create a reason without values.
    #[must_use]
    pub fn new(code: &'static str) -> Self {
        Self { code, subject: String::new(), values: BTreeMap::new() }
    }

    /// Add a value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<u64>) -> Self {
        self.values.insert(name, value.into());
        self
    }
}
