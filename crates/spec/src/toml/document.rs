//! TOML with the place of every key and value: parsing, merging overlays, typing, and errors that
//! name the place.

use std::ops::Range;
use tameshi_base::{InputError, InputErrorKind};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use super::merge::{merge, nested};

/// A table whose keys and values have their place in the source.
pub type Table<'t> = DeTable<'t>;

/// A file's name and text, for errors.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// As the user gave it.
    pub file: &'t str,
    /// The whole text.
    pub text: &'t str,
}

impl<'t> Source<'t> {
    /// Parses the text.
    ///
    /// # Errors
    /// At the first place that is no TOML.
    pub fn parse(self) -> Result<Table<'t>, InputError> {
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            if error.message() == "duplicate key" {
                return self.twice(span);
            }
            self.error(InputErrorKind::Syntax, span, "", error.message().lines().collect::<Vec<_>>().join("; "))
        })
    }

    /// Error of a duplicate key or table head.
    fn twice(self, span: Range<usize>) -> InputError {
        let error = self.error(InputErrorKind::Syntax, span.clone(), "", "");
        let before: Vec<&str> = self.text.lines().take(error.line - 1).collect();
        let head = head_of(&error.source_line);
        let (found, first) = match head {
            Some(head) => (head, before.iter().position(|line| head_of(line) == Some(head))),
            None => {
                let key = key_of(&error.source_line);
                let table = before.iter().rposition(|line| head_of(line).is_some()).map_or(0, |head| head + 1);
                let first = before[table..].iter().position(|line| key.is_some() && key_of(line) == key);
                (key.unwrap_or_default(), first.map(|line| table + line))
            }
        };
        let name = self.text_at(span);
        let found = if found.contains(&name) { found.to_string() } else { name };
        let message = match first {
            Some(line) => format!("duplicate key: `{found}` is in line {} too", line + 1),
            None => format!("duplicate key: `{found}` is here for the second time"),
        };
        InputError { found, message, accepted: vec!["each key once".into()], ..error }
    }

    /// An error at a span.
    pub fn error(self, kind: InputErrorKind, span: Range<usize>, key: &str, message: impl Into<String>) -> InputError {
        let begin = span.start.min(self.text.len());
        let line_begin = self.text[..begin].rfind('\n').map_or(0, |newline| newline + 1);
        let source_line = self.text[line_begin..].lines().next().unwrap_or("");
        InputError {
            kind,
            file: self.file.to_string(),
            line: self.text[..begin].matches('\n').count() + 1,
            column: self.text[line_begin..begin].chars().count() + 1,
            key: key.to_string(),
            found: String::new(),
            accepted: Vec::new(),
            did_you_mean: None,
            message: message.into(),
            source_line: source_line.to_string(),
        }
    }

    /// An error at the value (or failing that the key, or its nearest parent) of a path in a merged
    /// table.
    pub fn error_at(
        self,
        table: &Table<'t>,
        path: &[&str],
        kind: InputErrorKind,
        message: impl Into<String>,
    ) -> InputError {
        let span = span_of(table, path);
        let mut error = self.error(kind, span.clone(), &path.join("."), message);
        if matches!(kind, InputErrorKind::BadValue | InputErrorKind::UnknownName) {
            error.found = self.text_at(span);
        }
        error
    }

    /// Return the source text of a span, on one line.
    pub fn text_at(self, span: Range<usize>) -> String {
        let text = self.text.get(span).unwrap_or("");
        match text.split_once('\n') {
            Some((first, _)) => format!("{} …", first.trim_end()),
            None => text.to_string(),
        }
    }
}

/// The head of a table that a line is.
fn head_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.starts_with('[').then(|| line.split_inclusive(']').next()).flatten()
}

/// The key that a line begins with.
fn key_of(line: &str) -> Option<&str> {
    line.split_once('=').map(|(key, _)| key.trim())
}

/// Return the accepted name nearest to the found one, if one is near.
pub fn nearest(found: &str, accepted: &[String]) -> Option<String> {
    let scored = accepted.iter().map(|name| (strsim::damerau_levenshtein(found, name), name));
    scored.filter(|(distance, name)| *distance <= name.len().max(found.len()) / 3).min().map(|(_, name)| name.clone())
}

/// The place of a path's value, or of the deepest part of it that is there; in a list, a name is an
/// index.
pub fn span_of(table: &Table<'_>, path: &[&str]) -> Range<usize> {
    let Some((name, rest)) = path.split_first() else { return 0..0 };
    let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { return 0..0 };
    let (mut value, mut rest) = (value, rest);
    while let (DeValue::Array(items), Some((index, after))) = (value.get_ref(), rest.split_first()) {
        let Some(item) = index.parse().ok().and_then(|index: usize| items.get(index)) else { break };
        (value, rest) = (item, after);
    }
    match value.get_ref() {
        DeValue::Table(inner) => {
            let deeper = span_of(inner, rest);
            if deeper == (0..0) { key.span() } else { deeper }
        }
        _ => value.span(),
    }
}

/// Return whether a path of tables has a value.
pub fn has_key(table: &Table<'_>, path: &[&str]) -> bool {
    let Some((name, rest)) = path.split_first() else { return true };
    match table.get(*name).map(Spanned::get_ref) {
        Some(DeValue::Table(inner)) => has_key(inner, rest),
        Some(_) => rest.is_empty(),
        None => false,
    }
}
