//! Axes: labelled partial studies, and the combinations they span.

use crate::study::Varies;
use crate::toml::document::{Source, Table, merge, nested};
use indexmap::IndexMap;
use std::ops::Range;
use tameshi_base::{InputError, InputErrorKind};
use toml::Spanned;
use toml::de::DeValue;

/// One axis or unknown setting of a study: its levels in order, each a partial study.
#[derive(Clone, Debug)]
pub struct AxisTable<'t> {
    /// Key of the table that it stands in: `axis` or `unknown`.
    pub key: &'static str,
    /// Its name.
    pub name: String,
    /// Across runs or within a run.
    pub varies: Varies,
    /// The key that its levels set, if they are values.
    pub set: Option<String>,
    /// Label and partial study of each level.
    pub levels: Vec<(String, Table<'t>)>,
}

/// An unknown setting of a study.
#[derive(Clone, Debug)]
pub struct UnknownTable<'t> {
    /// Its levels.
    pub axis: AxisTable<'t>,
    /// Place of the assumed level.
    pub assumed: usize,
    /// Place of its name.
    pub span: Range<usize>,
}

/// A combination: the chosen level of each axis, and the study with them merged in.
#[derive(Clone, Debug)]
pub struct Combination<'t> {
    /// Label of each axis's level, in the axes' order.
    pub levels: IndexMap<String, String>,
    /// The unknown setting that is not at its assumed level, and its level; empty if all are.
    pub unknown: IndexMap<String, String>,
    /// The base with every level merged in.
    pub table: Table<'t>,
}

/// Takes the table `key` out of a document.
fn take<'t>(source: Source<'_>, document: &mut Table<'t>, key: &str) -> Result<Option<Table<'t>>, InputError> {
    let Some(value) = document.remove(key) else { return Ok(None) };
    let span = value.span();
    match value.into_inner() {
        DeValue::Table(table) => Ok(Some(table)),
        _ => Err(no_table(source, span, key, &format!("`{key}` must be a table"))),
    }
}

fn no_table(source: Source<'_>, span: Range<usize>, key: &str, message: &str) -> InputError {
    let found = source.text_at(span.clone());
    let error = source.error(InputErrorKind::WrongType, span, key, message);
    InputError { found, accepted: vec!["a table".into()], ..error }
}

/// Takes the overlay of `--quick` out of a document.
///
/// # Errors
/// When it is no table.
pub fn take_quick<'t>(source: Source<'t>, document: &mut Table<'t>) -> Result<Option<Table<'t>>, InputError> {
    take(source, document, "quick")
}

/// Takes the axes out of a document, in the order written.
///
/// # Errors
/// When an axis is neither `set` and `levels` nor labelled partial studies.
pub fn take_axes<'t>(source: Source<'t>, document: &mut Table<'t>) -> Result<Vec<AxisTable<'t>>, InputError> {
    let Some(axes) = take(source, document, "axis")? else { return Ok(Vec::new()) };
    axes.into_iter()
        .map(|(name, value)| {
            let key = format!("axis.{}", name.get_ref());
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(mut table) => {
                    let varies = take_varies(source, &key, &mut table)?;
                    axis(source, ("axis", name.get_ref()), name.span(), varies, table)
                }
                _ => Err(no_table(source, span, &key, "an axis must be a table")),
            }
        })
        .collect()
}

/// Takes the unknown settings out of a document, in the order written.
///
/// # Errors
/// When one has fewer than two levels, its form is not that of an axis, or the quick part has any.
pub fn take_unknowns<'t>(
    source: Source<'t>,
    document: &mut Table<'t>,
    quick: Option<&Table<'_>>,
) -> Result<Vec<UnknownTable<'t>>, InputError> {
    if let Some((key, _)) = quick.into_iter().flatten().find(|(key, _)| *key.get_ref() == "unknown") {
        let message = "the quick part runs the assumed levels alone: it can't change unknown settings";
        return Err(source.error(InputErrorKind::Conflict, key.span(), "quick.unknown", message));
    }
    let Some(unknowns) = take(source, document, "unknown")? else { return Ok(Vec::new()) };
    unknowns
        .into_iter()
        .map(|(name, value)| {
            let key = format!("unknown.{}", name.get_ref());
            let span = value.span();
            let DeValue::Table(mut table) = value.into_inner() else {
                return Err(no_table(source, span, &key, "an unknown setting must be a table"));
            };
            let refused = |message: &str| Err(source.error(InputErrorKind::Conflict, name.span(), &key, message));
            let assumed = table.remove("assumed");
            let axis = axis(source, ("unknown", name.get_ref()), name.span(), Varies::Across, table)?;
            if axis.levels.len() < 2 {
                return refused("a range has at least two levels");
            }
            Ok(UnknownTable { assumed: place_of(source, &key, &axis, assumed)?, axis, span: name.span() })
        })
        .collect()
}

/// Refuse an unknown setting with the name of an axis.
///
/// # Errors
/// At the first one.
pub fn own_names(source: Source<'_>, axes: &[AxisTable<'_>], unknowns: &[UnknownTable<'_>]) -> Result<(), InputError> {
    match unknowns.iter().find(|unknown| axes.iter().any(|axis| axis.name == unknown.axis.name)) {
        None => Ok(()),
        Some(unknown) => {
            let message = "an axis has this name, and a setting that is varied is not unknown";
            let key = format!("unknown.{}", unknown.axis.name);
            Err(source.error(InputErrorKind::Conflict, unknown.span.clone(), &key, message))
        }
    }
}

/// The place of the assumed level; the first without one.
fn place_of(
    source: Source<'_>,
    key: &str,
    axis: &AxisTable<'_>,
    assumed: Option<Spanned<DeValue<'_>>>,
) -> Result<usize, InputError> {
    let Some(assumed) = assumed else { return Ok(0) };
    let label = match assumed.get_ref() {
        DeValue::String(text) => text.to_string(),
        _ => source.text_at(assumed.span()),
    };
    axis.levels.iter().position(|(level, _)| *level == label).ok_or_else(|| {
        let key = format!("{key}.assumed");
        let mut error = source.error(InputErrorKind::UnknownName, assumed.span(), &key, "it is none of the levels");
        error.found = label;
        error.accepted = axis.levels.iter().map(|(level, _)| level.clone()).collect();
        error
    })
}

fn axis<'t>(
    source: Source<'t>,
    (of, name): (&'static str, &str),
    span: Range<usize>,
    varies: Varies,
    mut table: Table<'t>,
) -> Result<AxisTable<'t>, InputError> {
    let key = format!("{of}.{name}");
    let key_set = table.get("set").and_then(|set| set.get_ref().as_str()).map(str::to_string);
    let levels = match (table.remove("set"), table.remove("levels")) {
        (Some(set), Some(levels)) if table.is_empty() => set_levels(source, &key, &set, levels)?,
        (None, None) => labelled_levels(source, &key, table)?,
        (set, levels) => {
            let message = match (set.is_some(), levels.is_some()) {
                (true, true) => "an axis has either `set` and `levels`, or labelled levels, not both",
                (true, false) => "`set` needs `levels`: the values that the key takes",
                _ => "`levels` needs `set`: the key that they set",
            };
            return Err(source.error(InputErrorKind::Conflict, span, &key, message));
        }
    };
    if levels.is_empty() {
        return Err(source.error(InputErrorKind::MissingKey, span, &key, "an axis needs at least one level"));
    }
    Ok(AxisTable { key: of, name: name.to_string(), varies, set: key_set, levels })
}

fn take_varies(source: Source<'_>, key: &str, table: &mut Table<'_>) -> Result<Varies, InputError> {
    let Some(value) = table.remove("varies") else { return Ok(Varies::Across) };
    match value.get_ref().as_str() {
        Some("across") => Ok(Varies::Across),
        Some("within") => Ok(Varies::Within),
        _ => {
            let mut error = source.error(
                InputErrorKind::UnknownVariant,
                value.span(),
                &format!("{key}.varies"),
                "an axis varies across runs or within a run",
            );
            error.found = source.text_at(value.span());
            error.accepted = vec!["across".into(), "within".into()];
            Err(error)
        }
    }
}

fn set_levels<'t>(
    source: Source<'t>,
    key: &str,
    set: &Spanned<DeValue<'t>>,
    levels: Spanned<DeValue<'t>>,
) -> Result<Vec<(String, Table<'t>)>, InputError> {
    let wrong = |span, key: String, message| Err(source.error(InputErrorKind::WrongType, span, &key, message));
    let Some(path) = set.get_ref().as_str() else {
        return wrong(set.span(), format!("{key}.set"), "`set` is the dotted key that the levels set, as a string");
    };
    let span = levels.span();
    let DeValue::Array(values) = levels.into_inner() else {
        return wrong(span, format!("{key}.levels"), "`levels` is a list of values");
    };
    let mut labelled = Vec::new();
    for value in values {
        let label = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            _ => source.text_at(value.span()),
        };
        if labelled.iter().any(|(other, _)| *other == label) {
            return Err(source.error(
                InputErrorKind::Conflict,
                value.span(),
                &format!("{key}.levels"),
                format!("duplicate level `{label}`"),
            ));
        }
        labelled.push((label, nested(path, set.span(), value)));
    }
    Ok(labelled)
}

fn labelled_levels<'t>(
    source: Source<'t>,
    key: &str,
    table: Table<'t>,
) -> Result<Vec<(String, Table<'t>)>, InputError> {
    table
        .into_iter()
        .map(|(label, value)| {
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(partial) => {
                    refuse_overlays(source, &format!("{key}.{}", label.get_ref()), &partial)?;
                    Ok((label.into_inner().into_owned(), partial))
                }
                _ => {
                    let message = "a level is a partial study, such as { use.storage = \"flash\" }";
                    Err(no_table(source, span, &format!("{key}.{}", label.get_ref()), message))
                }
            }
        })
        .collect()
}

/// An overlay can't bring axes of its own.
fn refuse_overlays(source: Source<'_>, key: &str, partial: &Table<'_>) -> Result<(), InputError> {
    match partial.iter().find(|(name, _)| ["axis", "unknown", "quick"].contains(&name.get_ref().as_ref())) {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!("a level can't hold `{}`: overlays don't nest", name.get_ref());
            Err(source.error(InputErrorKind::Conflict, name.span(), key, message))
        }
    }
}

/// Combinations of the levels of axes, the last axis varying fastest.
///
/// Only the tables of the current combination are in memory.
struct Combinations<'a, 't> {
    axes: Vec<&'a AxisTable<'t>>,
    /// The base, and the base with the current levels of the first axes, axis by axis.
    merged: Vec<Combination<'t>>,
    /// Place of the next level of the axis after each of `merged`.
    next: Vec<usize>,
}

impl<'a, 't> Combinations<'a, 't> {
    fn new(base: Combination<'t>, axes: &[&'a AxisTable<'t>]) -> Self {
        Self { axes: axes.to_vec(), merged: vec![base], next: vec![0] }
    }
}

impl<'t> Iterator for Combinations<'_, 't> {
    type Item = Combination<'t>;

    fn next(&mut self) -> Option<Combination<'t>> {
        loop {
            let last = self.merged.len().checked_sub(1)?;
            let Some(axis) = self.axes.get(last) else {
                self.next.pop();
                return self.merged.pop();
            };
            let Some((label, partial)) = axis.levels.get(self.next[last]) else {
                self.next.pop();
                self.merged.pop();
                continue;
            };
            self.next[last] += 1;
            let mut merged = self.merged[last].clone();
            merged.levels.insert(axis.name.clone(), label.clone());
            merge(&mut merged.table, partial);
            self.merged.push(merged);
            self.next.push(0);
        }
    }
}

/// Every combination of the levels of `axes`, the last axis varying fastest.
pub fn combinations<'t>(base: &Table<'t>, axes: &[&AxisTable<'t>]) -> Vec<Combination<'t>> {
    let base = Combination { levels: IndexMap::new(), unknown: IndexMap::new(), table: base.clone() };
    Combinations::new(base, axes).collect()
}

/// Every combination with all unknown settings assumed, then with each at each of its other levels.
/// They are made one by one.
pub fn with_unknowns<'a, 't>(
    base: &Table<'t>,
    axes: &'a [&'a AxisTable<'t>],
    unknowns: &[UnknownTable<'t>],
) -> impl Iterator<Item = Combination<'t>> + use<'a, 't> {
    let mut assumed = base.clone();
    for unknown in unknowns {
        merge(&mut assumed, &unknown.axis.levels[unknown.assumed].1);
    }
    let based = |unknown, table| Combination { levels: IndexMap::new(), unknown, table };
    let mut bases = vec![based(IndexMap::new(), assumed)];
    for (place, unknown) in unknowns.iter().enumerate() {
        for (level, (label, partial)) in unknown.axis.levels.iter().enumerate() {
            if level == unknown.assumed {
                continue;
            }
            let mut table = base.clone();
            for (other, of) in unknowns.iter().enumerate() {
                merge(&mut table, if other == place { partial } else { &of.axis.levels[of.assumed].1 });
            }
            bases.push(based(IndexMap::from([(unknown.axis.name.clone(), label.clone())]), table));
        }
    }
    bases.into_iter().flat_map(move |base| Combinations::new(base, axes))
}
