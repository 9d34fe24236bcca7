//! Overlays without effect: an axis that sets keys that no phase uses, a quick part that
//! names absent parts.

use crate::study::Stack;
use crate::toml::axes::AxisTable;
use crate::toml::document::{Source, Table, has_key, nearest, span_of};
use crate::validate::names::Names;
use std::collections::BTreeSet;
use tameshi_base::{InputError, InputErrorKind};

type Checked = Result<(), InputError>;

/// Things that a dotted key may be of: how many of its names say which.
const THINGS: [(&[&str], &str); 5] = [
    (&["workload", "stream"], "stream"),
    (&["phase"], "phase"),
    (&["storage"], "storage"),
    (&["event"], "event"),
    (&["rounds"], "rounds"),
];

/// The table under a path.
fn under<'a, 't>(table: &'a Table<'t>, path: &[&str]) -> Option<&'a Table<'t>> {
    path.iter().try_fold(table, |table, name| table.get(*name)?.get_ref().as_table())
}

fn names(table: &Table<'_>, path: &[&str]) -> Vec<String> {
    under(table, path).map_or(vec![], |of| of.keys().map(|key| key.get_ref().to_string()).collect())
}

fn no_such(source: Source<'_>, table: &Table<'_>, path: &[&str], message: String, known: Vec<String>) -> InputError {
    let mut error = source.error(InputErrorKind::UnknownName, span_of(table, path), &path.join("."), message);
    error.accepted = known;
    error
}

/// Refuse a quick part that changes something absent, even if it is not requested.
pub(crate) fn of_quick(source: Source<'_>, document: &Table<'_>, quick: &Table<'_>) -> Checked {
    let axes = under(document, &["axis"]);
    let levels = axes.into_iter().flat_map(Table::values).filter_map(|axis| axis.get_ref().as_table());
    let levels: Vec<&Table<'_>> =
        levels.flat_map(Table::values).filter_map(|level| level.get_ref().as_table()).collect();
    for (path, what) in THINGS {
        let known: Vec<String> = names(document, path)
            .into_iter()
            .chain(levels.iter().flat_map(|level| names(level, path)))
            .chain(set_by(document, path))
            .collect();
        for name in names(quick, path) {
            let at: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
            if known.contains(&name) || is_whole(quick, &at, what) {
                continue;
            }
            let mut error = no_such(source, quick, &at, format!("there is no {what} `{name}`"), known.clone());
            (error.key, error.found) = (format!("quick.{}", at.join(".")), name.clone());
            error.did_you_mean = nearest(&name, &known);
            if known.is_empty() {
                error.accepted = vec![format!("(this study defines no {what})")];
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Names under `path` that axes of values set something of.
fn set_by<'a>(document: &'a Table<'_>, path: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    let axes = under(document, &["axis"]).into_iter().flat_map(Table::values);
    let begin = format!("{}.", path.join("."));
    axes.filter_map(move |axis| {
        let set = axis.get_ref().as_table()?.get("set")?.get_ref().as_str()?;
        Some(set.strip_prefix(&begin)?.split('.').next()?.to_string())
    })
}

/// Return whether a quick part defines a thing of its own, rather than changing one.
fn is_whole(quick: &Table<'_>, at: &[&str], what: &str) -> bool {
    let has = |key: &str| has_key(quick, &at.iter().copied().chain([key]).collect::<Vec<_>>());
    match what {
        "phase" => has("workload"),
        "storage" => Stack::KINDS.into_iter().any(has),
        "event" => has("at"),
        "rounds" => has("phases"),
        _ => under(quick, &["phase"]).is_some_and(|phases| {
            phases.values().any(|phase| phase.get_ref().as_table().is_some_and(|phase| phase.contains_key("workload")))
        }),
    }
}

/// Refuse axis levels that set keys of something that the study lacks and that only the levels
/// would create.
pub(crate) fn are_there(source: Source<'_>, document: &Table<'_>, axes: &[&AxisTable<'_>]) -> Checked {
    for axis in axes {
        let Some(set) = &axis.set else { continue };
        let path: Vec<&str> = set.split('.').collect();
        for (kind, what) in THINGS {
            let (Some(&name), true) = (path.get(kind.len()), path.starts_with(kind)) else { continue };
            // A stream may have only defaults, and a storage only its profile
            // alone: `are_used` tells of these.
            let is_kind = path.get(kind.len() + 1).is_none_or(|key| Stack::KINDS.contains(key));
            if (what == "storage" && is_kind) || (what == "stream" && document.contains_key("phase")) {
                continue;
            }
            let others = axes.iter().filter(|other| other.set.is_none()).flat_map(|other| &other.levels);
            let known = names(document, kind).into_iter().chain(others.flat_map(|(_, level)| names(level, kind)));
            let known: Vec<String> = known.collect::<BTreeSet<_>>().into_iter().collect();
            let is_only = what == "storage" && known.is_empty();
            if !is_only && !known.iter().any(|known| known == name) {
                let message = format!("the study has no {what} `{name}` whose values could be set");
                return Err(of_set(source, axis, (&path, kind.len()), message, known));
            }
        }
    }
    Ok(())
}

/// Refuse axis levels that set keys of streams, programs, storages or engines that no run uses.
pub(crate) fn are_used(source: Source<'_>, axes: &[&AxisTable<'_>], document: &Table<'_>, runs: &Names) -> Checked {
    let used = runs.used();
    let names_of_streams: Vec<String> = used[0].iter().map(|name| format!("stream.{name}")).collect();
    for axis in axes {
        for (_, level) in &axis.levels {
            let programs = names(level, &["workload"]).into_iter().filter(|word| word != "stream" && word != "trace");
            let storages = names(level, &["storage"]).into_iter();
            let storages = storages.filter(|name| !has_key(document, &["storage", name]) && axis.set.is_some());
            let said = [
                (&["workload", "stream"][..], "phase uses stream", names(level, &["workload", "stream"])),
                (&["workload"], "phase uses", programs.collect()),
                (&["storage"], "run uses storage", storages.collect()),
            ];
            for ((kind, what, said), used) in said.into_iter().zip(&used) {
                let Some(name) = said.into_iter().find(|name| !used.contains(name)) else { continue };
                let path: Vec<&str> = kind.iter().copied().chain([name.as_str()]).collect();
                let message = format!("no {what} `{name}`: the levels of {} `{}` have no effect", axis.key, axis.name);
                let streams = names_of_streams.iter().filter(|_| kind == ["workload"]);
                let known = used.iter().cloned().chain(streams.cloned()).collect();
                return Err(of_set(source, axis, (&path, kind.len()), message, known));
            }
        }
    }
    Ok(())
}

/// Error of an axis about the unused name at `path[place]`.
fn of_set(
    source: Source<'_>,
    axis: &AxisTable<'_>,
    (path, place): (&[&str], usize),
    message: String,
    known: Vec<String>,
) -> InputError {
    let (name, kind) = (path[place], path[..place].join("."));
    let (label, level) = axis
        .levels
        .iter()
        .find(|(_, level)| has_key(level, &path[..=place]))
        .or(axis.levels.first())
        .expect("an axis has a level");
    let mut error = no_such(source, level, &path[..=place], message, vec![]);
    error.key = match &axis.set {
        Some(_) => format!("{}.{}.set", axis.key, axis.name),
        None => format!("{}.{}.{label}", axis.key, axis.name),
    };
    error.found = axis.set.clone().unwrap_or_else(|| format!("{kind}.{name}"));
    error.did_you_mean = nearest(name, &known).map(|near| format!("{kind}.{near}"));
    error.accepted = known.iter().map(|known| format!("{kind}.{known}")).collect();
    if known.is_empty() {
        error.accepted = vec!["what the study uses".into()];
    }
    error
}
