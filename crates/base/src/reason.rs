//! Reasons as data: a code with its values, of which reports make words.

use serde::Serialize;
use std::collections::BTreeMap;

/// Why an event did not happen, or why a result is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Key of the words in the report's table.
    pub code: &'static str,
    /// Name of the study that it is about; empty if none.
    pub subject: String,
    /// Numbers that the words name.
    pub values: BTreeMap<&'static str, u64>,
}

impl Reason {
    /// A reason without values.
    #[must_use]
    pub fn new(code: &'static str) -> Self {
        Self { code, subject: String::new(), values: BTreeMap::new() }
    }

    /// The reason with one more value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<u64>) -> Self {
        self.values.insert(name, value.into());
        self
    }
}
