//! Sizes of the binary log's events: row format with full images.
//!
//! A transaction has a begin, an identifier and a commit. Each statement that changes rows has a
//! table map and an event with the rows: the new values of an insert, the old ones of a delete,
//! both of an update (binlog_row_image = FULL).

use tameshi_spec::profile::Binlog;
use tameshi_workload::program::relation::{Column, Set};
use tameshi_workload::program::{Catalogue, Kind, Shape, Table};

/// Bytes of the database's name in a table map, of lengths and ends of both names, of the numbers
/// of columns and of the metadata, and of the number of columns before the rows.
const NAMES: u64 = 7 + 4 + 1 + 1 + 1;
/// Bytes of a number in a statement's text.
const DIGITS: u64 = 5;
/// Bytes of the signs around a name or a value in a statement's text.
const SIGNS: u64 = 3;

/// Sizes that do not depend on the table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventSizes {
    /// Per transaction.
    pub(super) transaction: u64,
    statement: u64,
    /// Event with the statement's text, besides names and values.
    annotation: Option<u64>,
}

/// Bytes of a statement's events: of the statement, and per changed row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StatementBytes {
    base: u64,
    row: u64,
}

impl StatementBytes {
    /// Bytes for a number of changed rows.
    #[inline]
    pub(super) fn of(self, rows: u64) -> u64 {
        self.base + rows * self.row
    }
}

impl EventSizes {
    pub(super) fn new(rules: &Binlog) -> Self {
        Self {
            transaction: rules.transaction.value.0,
            statement: rules.statement.value.0,
            annotation: rules.annotation.as_ref().map(|size| size.value.0),
        }
    }

    /// Bytes of each of a program's statements.
    pub(super) fn of_statements(&self, catalogue: &Catalogue) -> Vec<StatementBytes> {
        let tables = &catalogue.tables;
        let name = |table: &Table, column: usize| table.columns[column].name.len() as u64 + SIGNS;
        let value = |table: &Table, column: usize| name(table, column) + text_bytes(&table.columns[column]);
        let number = |table: &Table, column: usize| name(table, column) + DIGITS;
        let bytes = |shape: &Shape| match shape {
            Shape::Insert { table, columns } => {
                let table = &tables[*table];
                self.of(table, 1, columns.iter().map(|&column| value(table, column)).sum())
            }
            Shape::Update { table, set, equal } => {
                let table = &tables[*table];
                let changed = set.iter().map(|set| match *set {
                    Set::To(column) => value(table, column),
                    // The name, the name again, and the number.
                    Set::Add(column) | Set::AddFixed(column, _) => number(table, column) + name(table, column),
                });
                let keys = equal.iter().map(|&column| number(table, column));
                self.of(table, 2, changed.chain(keys).sum())
            }
            Shape::Delete { table, equal } => {
                let table = &tables[*table];
                self.of(table, 1, equal.iter().map(|&column| number(table, column)).sum())
            }
            Shape::Get { .. } | Shape::Read(_) | Shape::CountJoined(_) => StatementBytes::default(),
        };
        catalogue.shapes.iter().map(bytes).collect()
    }

    /// Bytes of a statement with a number of images per row, and names and values of `text` bytes
    /// in its text.
    fn of(&self, table: &Table, images: u64, text: u64) -> StatementBytes {
        let (columns, nulls) = (table.columns.len() as u64, (table.columns.len() as u64).div_ceil(8));
        let metadata: u64 = table.columns.iter().map(metadata_bytes).sum();
        let map = NAMES + table.name.len() as u64 + columns + metadata + nulls;
        let image = nulls + table.columns.iter().map(value_bytes).sum::<u64>();
        let annotation = self.annotation.map_or(0, |bytes| bytes + table.name.len() as u64 + text);
        StatementBytes { base: self.statement + map + images * nulls + annotation, row: images * image }
    }
}

/// Bytes of a column's type in a table map.
fn metadata_bytes(column: &Column) -> u64 {
    match column.kind {
        Kind::Int | Kind::BigInt | Kind::JsonInt { .. } => 0,
        Kind::Time | Kind::Json => 1,
        Kind::Decimal { .. } | Kind::Char(_) | Kind::Text(_) => 2,
    }
}

/// Bytes of a mean value in a statement's text.
fn text_bytes(column: &Column) -> u64 {
    match column.kind {
        Kind::Char(_) | Kind::Text(_) | Kind::Json => column.mean_bytes.into(),
        Kind::Time => "2026-01-01 00:00:00".len() as u64,
        Kind::Int | Kind::BigInt | Kind::Decimal { .. } | Kind::JsonInt { .. } => DIGITS,
    }
}

/// Bytes of a mean value in a row's image.
fn value_bytes(column: &Column) -> u64 {
    let bytes = u64::from(column.mean_bytes);
    match column.kind {
        Kind::Char(most) | Kind::Text(most) => bytes + if most > 255 { 2 } else { 1 },
        Kind::Json => bytes + 4,
        Kind::Time => 5,
        Kind::Int | Kind::BigInt | Kind::Decimal { .. } | Kind::JsonInt { .. } => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_workload::program::relation::{column, text};

    #[test]
    fn statement_bytes_follow_columns_and_images() {
        let columns = vec![column("id", Kind::Int), column("k", Kind::Int), text("c", Kind::Char(120), 120)];
        let table = Table::new("sbtest1", columns, &["id"], 100);
        let shapes = vec![
            Shape::Insert { table: 0, columns: vec![0, 1, 2] },
            Shape::Update { table: 0, set: vec![Set::Add(1)], equal: vec![0] },
            Shape::Delete { table: 0, equal: vec![0] },
        ];
        let catalogue = Catalogue { tables: vec![table], shapes, transactions: Vec::new() };
        let sizes = EventSizes { transaction: 171, statement: 64, annotation: None };
        // Names, number and types of columns, their lengths, and which may be absent; the bits of
        // the columns before the rows.
        let map = 64 + NAMES + 7 + 3 + 2 + 1;
        let image = 1 + 4 + 4 + 121;
        let [insert, update, delete] = sizes.of_statements(&catalogue)[..] else { panic!("three statements") };
        assert_eq!(insert.of(1), map + 1 + image);
        assert_eq!(update.of(3), map + 2 + 3 * 2 * image);
        assert_eq!(delete.of(1), insert.of(1));
        let annotated = EventSizes { annotation: Some(90), ..sizes }.of_statements(&catalogue);
        let names = 7 + ["id", "k", "c"].map(|name| name.len() as u64 + SIGNS).iter().sum::<u64>();
        let values = DIGITS + DIGITS + 120;
        assert_eq!(annotated[0].of(1), insert.of(1) + 90 + names + values, "the text has names and values");
    }
}
