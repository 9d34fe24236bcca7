//! Errors in a user's files: place, key, found, accepted.

use std::fmt;

/// Kind of mistake; every kind has a golden text in the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputErrorKind {
    /// The text is not TOML.
    Syntax,
    /// A key that does not exist at its place.
    UnknownKey,
    /// A variant that does not exist (a kind of stack, of arrivals …).
    UnknownVariant,
    /// A required key is missing.
    MissingKey,
    /// A value of the wrong type.
    WrongType,
    /// A value that parses but is not allowed.
    BadValue,
    /// A name that refers to nothing.
    UnknownName,
    /// Two settings that exclude each other.
    Conflict,
    /// A setting that the study's world does not support.
    Unsupported,
}

impl InputErrorKind {
    /// All kinds, for tests that require a golden text of each.
    pub const ALL: [Self; 9] = [
        Self::Syntax,
        Self::UnknownKey,
        Self::UnknownVariant,
        Self::MissingKey,
        Self::WrongType,
        Self::BadValue,
        Self::UnknownName,
        Self::Conflict,
        Self::Unsupported,
    ];

    /// Name of the kind for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnknownKey => "unknown_key",
            Self::UnknownVariant => "unknown_variant",
            Self::MissingKey => "missing_key",
            Self::WrongType => "wrong_type",
            Self::BadValue => "bad_value",
            Self::UnknownName => "unknown_name",
            Self::Conflict => "conflict",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Error in a user's file. Lines and columns count from one; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Kind of mistake.
    pub kind: InputErrorKind,
    /// Name of the file as the user gave it.
    pub file: String,
    /// Line, from one; zero if the error concerns the whole file.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// Dotted path of the key; empty if there is none.
    pub key: String,
    /// Text that was found, as written.
    pub found: String,
    /// Accepted values: a list of names, or a sentence.
    pub accepted: Vec<String>,
    /// Accepted name closest to the found one.
    pub did_you_mean: Option<String>,
    /// Description of the mistake in one sentence.
    pub message: String,
    /// Source line, for the caret.
    pub source_line: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
            writeln!(f, "  | {}", self.source_line)?;
            writeln!(f, "  | {}^", " ".repeat(self.column.saturating_sub(1)))?;
        } else {
            writeln!(f, "{}: {}", self.file, self.message)?;
        }
        if !self.key.is_empty() {
            writeln!(f, "  key:      {}", self.key)?;
        }
        if !self.found.is_empty() {
            writeln!(f, "  found:    {}", self.found)?;
        }
        if !self.accepted.is_empty() {
            writeln!(f, "  accepted: {}", self.accepted.join(", "))?;
        }
        if let Some(near) = &self.did_you_mean {
            writeln!(f, "  did you mean `{near}`?")?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}
