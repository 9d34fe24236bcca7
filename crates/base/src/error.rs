//! The shape of an error in what a user wrote: place, key, found, accepted.

use std::fmt;

/// What kind of mistake it is; every kind has a golden text in the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputErrorKind {
    /// The text is not TOML.
    Syntax,
    /// A key that does not exist there.
    UnknownKey,
    /// A variant (a kind of stack, of arrivals …) that does not exist.
    UnknownVariant,
    /// A key that must be there is not.
    MissingKey,
    /// A value of the wrong type.
    WrongType,
    /// A value that parses but can't be.
    BadValue,
    /// A name that refers to nothing.
    UnknownName,
    /// Two things that exclude each other.
    Conflict,
    /// What the world that is to run the study can't do.
    Unsupported,
}

impl InputErrorKind {
    /// Every kind, for tests that demand a golden text of each.
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

    /// The kind as a word for programs.
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

/// An error in a file that a user wrote. Lines and columns count from one; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Kind of mistake.
    pub kind: InputErrorKind,
    /// Name of the file as the user gave it.
    pub file: String,
    /// Line, from one; zero when the error belongs to the whole file.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// Dotted path of the key, empty when there is none.
    pub key: String,
    /// What was found, as written.
    pub found: String,
    /// What is accepted there: a list of names, or a sentence.
    pub accepted: Vec<String>,
    /// The accepted name that is nearest to what was found.
    pub did_you_mean: Option<String>,
    /// One sentence that says what is wrong.
    pub message: String,
    /// The source line, for the caret.
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
