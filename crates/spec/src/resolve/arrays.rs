//! Names of arrays become the stacks of their profiles, before a study is typed: what the study
//! itself says of the stack is merged over them, so that later stages see no difference between a
//! profile and a stack that is written out.

use crate::errors::one_kind;
use crate::profile::ArrayProfile;
use crate::profile::catalog::{self, Profiles};
use crate::resolve::stacks::Place;
use crate::run::node::Node;
use crate::study::Stack;
use crate::toml::document::{Source, Table, merge, nearest};
use indexmap::IndexMap;
use std::ops::Range;
use tameshi_base::{InputError, InputErrorKind};
use toml::Spanned;
use toml::de::DeValue;

const KEY: &str = "array";
/// Kinds of stack that a profile may have.
const KINDS: [&str; 8] = ["device", "raid0", "raid1", "raid10", "raid5", "replica", "over_provisioned", "cache"];

/// An array profile, read and checked: its stack as a study would write it, and what that resolves
/// to.
struct Array<'t> {
    profile: ArrayProfile,
    stack: Table<'t>,
    node: Node,
}

impl Profiles {
    /// The names of all array profiles, sorted.
    pub fn array_names(&self) -> Vec<String> {
        catalog::names(&self.arrays)
    }

    /// Read an array profile: as written, and resolved.
    ///
    /// # Errors
    /// In the profile's own file, or in that of a device or link it names, at the first thing that
    /// can't be.
    pub fn array(&self, name: &str) -> Option<Result<(ArrayProfile, Node), InputError>> {
        Some(read(self, name)?.map(|array| (array.profile, array.node)))
    }
}

fn read<'t>(profiles: &'t Profiles, name: &str) -> Option<Result<Array<'t>, InputError>> {
    catalog::read(&profiles.arrays, name, |source, table| {
        let profile: ArrayProfile = source.typed(table)?;
        let plain = values(table);
        let stack = plain.get(KEY).and_then(|stack| stack.get_ref().as_table()).cloned().unwrap_or_default();
        let typed: Stack = source.typed(&stack)?;
        one_kind(source, &plain, &[KEY], "array", &typed.kinds(), &KINDS)?;
        let (links, storages) = (IndexMap::new(), IndexMap::new());
        let place = Place { source, table: &plain, links: &links, storages: &storages, profiles, storage: name };
        let node = place.part(&[KEY], &typed)?;
        Ok(Array { profile, stack, node })
    })
}

/// The table with plain values in place of those with sources; other values are left out.
fn values<'t>(table: &Table<'t>) -> Table<'t> {
    let mut plain = Table::new();
    for (key, value) in table {
        let DeValue::Table(inner) = value.get_ref() else { continue };
        let value = match inner.get("value") {
            Some(value) => value.clone(),
            None => Spanned::new(value.span(), DeValue::Table(values(inner))),
        };
        plain.insert(key.clone(), value);
    }
    plain
}

/// The same with everything placed at `span`: the name of the profile in the study.
fn placed<'t>(table: &Table<'t>, span: &Range<usize>) -> Table<'t> {
    let mut moved = Table::new();
    for (key, value) in table {
        let value = match value.get_ref() {
            DeValue::Table(inner) => DeValue::Table(placed(inner, span)),
            plain => plain.clone(),
        };
        moved.insert(Spanned::new(span.clone(), key.get_ref().clone()), Spanned::new(span.clone(), value));
    }
    moved
}

/// Writes out every array that the storages of a study name.
///
/// # Errors
/// At a name that is no profile's, at what is no part of the profile's stack, or in the profile's
/// own file.
pub(crate) fn write_out<'t>(
    source: Source<'t>,
    table: &mut Table<'t>,
    profiles: &'t Profiles,
) -> Result<(), InputError> {
    let Some(DeValue::Table(storages)) = table.get_mut("storage").map(Spanned::get_mut) else { return Ok(()) };
    for (name, stack) in storages.iter_mut() {
        if let DeValue::Table(stack) = stack.get_mut() {
            in_stack(source, &format!("storage.{}", name.get_ref()), stack, profiles)?;
        }
    }
    Ok(())
}

fn in_stack<'t>(
    source: Source<'t>,
    path: &str,
    stack: &mut Table<'t>,
    profiles: &'t Profiles,
) -> Result<(), InputError> {
    // Typing the study refuses a value that is no name.
    if let Some(DeValue::String(name)) = stack.get(KEY).map(Spanned::get_ref) {
        let (name, span) = (name.to_string(), stack[KEY].span());
        let Some(array) = read(profiles, &name) else {
            return Err(unknown(source, path, span, &name, profiles));
        };
        let array = array?;
        stack.remove(KEY);
        only_changes(source, path, &name, &array.stack, stack)?;
        let mut whole = placed(&array.stack, &span);
        merge(&mut whole, stack);
        *stack = whole;
    }
    for kind in Stack::KINDS {
        if let Some(DeValue::Table(node)) = stack.get_mut(kind).map(Spanned::get_mut)
            && let Some(DeValue::Table(inner)) = node.get_mut("of").map(Spanned::get_mut)
        {
            in_stack(source, &format!("{path}.{kind}.of"), inner, profiles)?;
        }
    }
    Ok(())
}

/// Return whether a study's part of a stack says of nothing that it is of another kind than in the
/// profile.
fn only_changes(
    source: Source<'_>,
    path: &str,
    name: &str,
    profile: &Table<'_>,
    study: &Table<'_>,
) -> Result<(), InputError> {
    for kind in Stack::KINDS {
        let Some((key, theirs)) = study.get_key_value(kind) else { continue };
        let Some(ours) = profile.get(kind) else {
            let made = profile.keys().next().map(|kind| kind.get_ref().to_string()).unwrap_or_default();
            let message = format!("`{kind}` is no part of array `{name}`, which is `{made}` here");
            let mut error = source.error(InputErrorKind::Conflict, key.span(), &format!("{path}.{kind}"), message);
            error.accepted = vec![format!("what changes something of `{made}`")];
            return Err(error);
        };
        if let (Some(ours), Some(theirs)) = (inner(ours), inner(theirs)) {
            only_changes(source, &format!("{path}.{kind}.of"), name, ours, theirs)?;
        }
    }
    Ok(())
}

/// The stack under `of` of a node.
fn inner<'a, 't>(node: &'a Spanned<DeValue<'t>>) -> Option<&'a Table<'t>> {
    let DeValue::Table(node) = node.get_ref() else { return None };
    match node.get("of")?.get_ref() {
        DeValue::Table(inner) => Some(inner),
        _ => None,
    }
}

fn unknown(source: Source<'_>, path: &str, span: Range<usize>, name: &str, profiles: &Profiles) -> InputError {
    let message = format!("there is no array profile `{name}`");
    let mut error = source.error(InputErrorKind::UnknownName, span, &format!("{path}.{KEY}"), message);
    let names = profiles.array_names();
    let device = profiles.devices.iter().any(|(other, ..)| other == name);
    error.did_you_mean = if device { Some(format!("device = \"{name}\"")) } else { nearest(name, &names) };
    (error.found, error.accepted) = (name.to_string(), names);
    error
}
