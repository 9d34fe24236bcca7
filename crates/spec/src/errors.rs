//! Errors about a value, a name or a kind in a study.

use crate::toml::document::{Source, Table, nearest};
use tameshi_base::{InputError, InputErrorKind};
use tameshi_workload::StreamError;

pub(crate) fn bad_value(
    source: Source<'_>,
    table: &Table<'_>,
    path: &[&str],
    message: impl Into<String>,
    accepted: &str,
) -> InputError {
    let mut error = source.error_at(table, path, InputErrorKind::BadValue, message);
    error.accepted = vec![accepted.to_string()];
    error
}

pub(crate) fn not_zero(
    source: Source<'_>,
    table: &Table<'_>,
    value: u64,
    path: &[&str],
    accepted: &str,
) -> Result<(), InputError> {
    if value > 0 { Ok(()) } else { Err(bad_value(source, table, path, "must be greater than zero", accepted)) }
}

/// Exactly one kind of a thing that has kinds.
pub(crate) fn one_kind(
    source: Source<'_>,
    table: &Table<'_>,
    path: &[&str],
    what: &str,
    given: &[&str],
    kinds: &[&str],
) -> Result<(), InputError> {
    let (kind, message) = match given {
        [_] => return Ok(()),
        [] if what == "storage" => return Ok(()), // bound to a real thing; simulating it needs a model, which `resolve` says
        [] => (InputErrorKind::MissingKey, format!("no {what} kind given")),
        several => (InputErrorKind::Conflict, format!("this {what} is {} at once", several.join(" and "))),
    };
    let mut error = source.error_at(table, path, kind, message);
    error.accepted = kinds.iter().map(|kind| (*kind).to_string()).collect();
    Err(error)
}

/// The error of a stream's value that no job can carry out.
pub(crate) fn stream_error(source: Source<'_>, table: &Table<'_>, stream: &str, error: &StreamError) -> InputError {
    let path: Vec<&str> = ["workload", "stream", stream].into_iter().chain(error.key.split('.')).collect();
    bad_value(source, table, &path, error.message.clone(), error.accepted)
}

/// Error of a name that refers to no definition.
pub(crate) fn unknown_name(
    source: Source<'_>,
    table: &Table<'_>,
    path: &[&str],
    what: &str,
    found: &str,
    accepted: Vec<String>,
) -> InputError {
    let mut error = source.error_at(table, path, InputErrorKind::UnknownName, format!("there is no {what} `{found}`"));
    error.did_you_mean = nearest(found, &accepted);
    error.found = found.to_string();
    error.accepted = if accepted.is_empty() { vec![format!("(this study defines no {what})")] } else { accepted };
    error
}
