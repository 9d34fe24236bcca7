//! Overlays: tables merged into tables.

use super::document::Table;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Merges `overlay` into `base`: tables key by key, everything else replaced.
pub fn merge<'t>(base: &mut Table<'t>, overlay: &Table<'t>) {
    for (key, value) in overlay {
        if let (Some(existing), DeValue::Table(theirs)) = (base.get_mut(key), value.get_ref())
            && let DeValue::Table(mine) = existing.get_mut()
        {
            merge(mine, theirs);
            continue;
        }
        base.insert(key.clone(), value.clone());
    }
}

/// A table that holds `value` under a dotted path, every key placed at `span`.
pub fn nested<'t>(path: &str, span: Range<usize>, value: Spanned<DeValue<'t>>) -> Table<'t> {
    let mut keys = path.rsplit('.');
    let key = |name: &str| Spanned::new(span.clone(), Cow::Owned(name.to_string()));
    let mut table = DeTable::new();
    table.insert(key(keys.next().unwrap_or_default()), value);
    for name in keys {
        let mut outer = DeTable::new();
        outer.insert(key(name), Spanned::new(span.clone(), DeValue::Table(table)));
        table = outer;
    }
    table
}
