//! Small database in memory that executes statements, without SQL and without storage.
//!
//! It is the reference for real servers (the same program with the same seed must get the same
//! replies from both), and serves the tests of the programs themselves. It has one client.

use super::relation::{
    Bounds, By, Catalogue, CountJoined, Kind, Limit, Read, Reply, Set, Shape, Statement, Table, Take, Value, Values,
};
use std::collections::{BTreeMap, BTreeSet};

/// A value that owns its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// Characters.
    Text(Box<str>),
}

impl Cell {
    /// Owns a copy of the value.
    pub fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(value) => Self::Int(value),
            Value::Text(text) => Self::Text(text.into()),
        }
    }

    /// The value.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Text(text) => Value::Text(text),
        }
    }

    /// Return the whole number; NULL and text count as zero.
    pub fn int(&self) -> i64 {
        if let Self::Int(value) = self { *value } else { 0 }
    }
}

/// A row, its columns in the table's order.
pub type Row = Vec<Cell>;
type Key = Vec<Cell>;

/// Tables with their rows by primary key; a table without one numbers its rows.
#[derive(Clone, Debug)]
pub struct Memory {
    catalogue: Catalogue,
    tables: Vec<BTreeMap<Key, Row>>,
    /// Per table, the next row's place where there is no primary key, and its number where the
    /// database numbers rows.
    next: Vec<i64>,
    numbers: Vec<i64>,
    undo: Vec<(usize, Key, Option<Row>)>,
}

impl Memory {
    /// Empty tables.
    pub fn new(catalogue: &Catalogue) -> Self {
        let count = catalogue.tables.len();
        Self {
            catalogue: catalogue.clone(),
            tables: vec![BTreeMap::new(); count],
            next: vec![1; count],
            numbers: vec![1; count],
            undo: Vec::new(),
        }
    }

    /// Adds a row of a loader: its written columns.
    pub fn load(&mut self, table: usize, values: &Values) {
        let columns = self.catalogue.tables[table].written();
        self.insert(table, &columns, values);
        self.undo.clear();
    }

    /// The rows of a table in the order of their keys.
    pub fn rows(&self, table: usize) -> impl Iterator<Item = &Row> {
        self.tables[table].values()
    }

    /// The table of that name.
    ///
    /// # Panics
    /// When there is none.
    pub fn table(&self, name: &str) -> usize {
        self.catalogue.tables.iter().position(|table| table.name == name).expect("a table of the catalogue")
    }

    /// Commit the changes.
    pub fn commit(&mut self) {
        self.undo.clear();
    }

    /// Roll back the changes since the last commit.
    pub fn roll_back(&mut self) {
        while let Some((table, key, before)) = self.undo.pop() {
            match before {
                Some(row) => self.tables[table].insert(key, row),
                None => self.tables[table].remove(&key),
            };
        }
    }

    /// Carries out a statement; `false` when it would give a key a second row.
    pub fn execute(&mut self, statement: &Statement, reply: &mut Reply) -> bool {
        let shape = self.catalogue.shapes[statement.shape as usize].clone();
        let parameters = &statement.parameters;
        reply.restart(shape.results(&self.catalogue.tables).len());
        match &shape {
            Shape::Get { lookups, .. } => self.get(lookups, parameters, reply),
            Shape::Read(read) => self.read(read, parameters, reply),
            Shape::CountJoined(join) => self.count_joined(join, parameters, reply),
            Shape::Insert { table, columns } => {
                reply.affected = 1;
                return self.insert(*table, columns, parameters);
            }
            Shape::Update { table, set, equal } => {
                let given = set.iter().filter(|set| !matches!(set, Set::AddFixed(..))).count();
                for key in self.keys(*table, equal, parameters, given) {
                    let mut row = self.tables[*table][&key].clone();
                    apply(&mut row, set, parameters);
                    let before = self.tables[*table].insert(key.clone(), row);
                    self.undo.push((*table, key, before));
                    reply.affected += 1;
                }
            }
            Shape::Delete { table, equal } => {
                for key in self.keys(*table, equal, parameters, 0) {
                    let before = self.tables[*table].remove(&key);
                    self.undo.push((*table, key, before));
                    reply.affected += 1;
                }
            }
        }
        true
    }

    fn insert(&mut self, table: usize, columns: &[usize], values: &Values) -> bool {
        let description = &self.catalogue.tables[table];
        let mut row = vec![Cell::Null; description.columns.len()];
        for (index, &column) in columns.iter().enumerate() {
            row[column] = Cell::of(values.get(index));
        }
        compute(description, &mut row);
        if let Some(only) = description.number_column().filter(|_| description.auto_increment) {
            if row[only] == Cell::Null {
                row[only] = Cell::Int(self.numbers[table]);
            }
            self.numbers[table] = self.numbers[table].max(row[only].int() + 1);
        }
        let placed = description.primary.is_empty();
        let key = if placed { vec![Cell::Int(self.next[table])] } else { pick(&row, &description.primary) };
        if placed {
            self.next[table] += 1;
        }
        if self.tables[table].contains_key(&key) {
            return false;
        }
        self.undo.push((table, key.clone(), None));
        self.tables[table].insert(key, row);
        true
    }

    fn get(&self, lookups: &[super::relation::Lookup], parameters: &Values, reply: &mut Reply) {
        let mut at = 0;
        let mut rows = Vec::new();
        for lookup in lookups {
            let length = self.catalogue.tables[lookup.table].primary.len();
            let key: Key = (at..at + length).map(|index| Cell::of(parameters.get(index))).collect();
            at += length;
            let Some(row) = self.tables[lookup.table].get(&key) else { return };
            rows.push((row, lookup));
        }
        for (row, lookup) in rows {
            for &column in &lookup.columns {
                reply.values.push(row[column].value());
            }
        }
    }

    fn keys(&self, table: usize, equal: &[usize], parameters: &Values, from: usize) -> Vec<Key> {
        self.matching(table, equal, parameters, from).into_iter().map(|(key, _)| key.clone()).collect()
    }

    /// The rows whose columns equal the parameters from `from` on.
    fn matching(&self, table: usize, equal: &[usize], parameters: &Values, from: usize) -> Vec<(&Key, &Row)> {
        let wanted: Vec<Cell> = (0..equal.len()).map(|index| Cell::of(parameters.get(from + index))).collect();
        // As much of the primary key as is given narrows the search; the rest is compared.
        let primary = &self.catalogue.tables[table].primary;
        let prefix: Key =
            primary.iter().map_while(|column| Some(wanted[equal.iter().position(|e| e == column)?].clone())).collect();
        let rows = self.tables[table].range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
        let fits = |row: &Row| equal.iter().zip(&wanted).all(|(&column, wanted)| row[column] == *wanted);
        rows.filter(|(_, row)| fits(row)).collect()
    }

    fn read(&self, read: &Read, parameters: &Values, reply: &mut Reply) {
        let found = self.matching(read.table, &read.equal, parameters, 0);
        let mut rows: Vec<&Row> = found.into_iter().map(|(_, row)| row).collect();
        let mut at = read.equal.len();
        match read.bounds {
            Some(Bounds::Between(column)) => {
                let (low, high) = (Cell::of(parameters.get(at)), Cell::of(parameters.get(at + 1)));
                rows.retain(|row| (&low..=&high).contains(&&row[column]));
                at += 2;
            }
            Some(Bounds::From(column)) => {
                let low = Cell::of(parameters.get(at));
                rows.retain(|row| row[column] >= low);
                at += 1;
            }
            None => {}
        }
        if let Some(column) = read.below {
            let limit = Cell::of(parameters.get(at));
            rows.retain(|row| row[column] < limit);
            at += 1;
        }
        rows.sort_by(|a, b| compare(a, b, &read.order));
        match read.limit {
            Limit::None => {}
            Limit::Fixed(most) => rows.truncate(most as usize),
            Limit::Parameter => rows.truncate(Cell::of(parameters.get(at)).int() as usize),
        }
        take(&read.take, &rows, !read.order.is_empty(), &mut reply.values);
    }

    fn count_joined(&self, join: &CountJoined, parameters: &Values, reply: &mut Reply) {
        let at = join.equal.len();
        let (low, high) = (Cell::of(parameters.get(at)), Cell::of(parameters.get(at + 1)));
        let outer = self.matching(join.outer, &join.equal, parameters, 0);
        let rows = outer.into_iter().map(|(_, row)| row).filter(|row| (&low..=&high).contains(&&row[join.between]));
        let found: BTreeSet<&Cell> = rows.map(|row| &row[join.via]).collect();
        let limit = Cell::of(parameters.get(at + 2 + join.inner_equal.len()));
        let mut count = 0;
        for via in found {
            let mut values = Values::default();
            (0..join.inner_equal.len()).for_each(|index| {
                values.push(parameters.get(at + 2 + index));
            });
            values.push(via.value());
            let equal: Vec<usize> = join.inner_equal.iter().copied().chain([join.inner_via]).collect();
            let inner = self.matching(join.inner, &equal, &values, 0);
            count += i64::from(inner.iter().any(|(_, row)| row[join.below] < limit));
        }
        reply.values.int(count);
    }
}

fn pick(row: &Row, columns: &[usize]) -> Key {
    columns.iter().map(|&column| row[column].clone()).collect()
}

fn apply(row: &mut Row, set: &[Set], parameters: &Values) {
    let mut at = 0;
    for change in set {
        match *change {
            Set::To(column) => row[column] = Cell::of(parameters.get(at)),
            Set::Add(column) => row[column] = Cell::Int(row[column].int() + Cell::of(parameters.get(at)).int()),
            Set::AddFixed(column, by) => row[column] = Cell::Int(row[column].int() + by),
        }
        at += usize::from(!matches!(change, Set::AddFixed(..)));
    }
}

fn compare(a: &Row, b: &Row, order: &[By]) -> std::cmp::Ordering {
    let by = order.iter().map(|by| {
        let forward = a[by.column].cmp(&b[by.column]);
        if by.descending { forward.reverse() } else { forward }
    });
    by.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}

fn take(take: &Take, rows: &[&Row], ordered: bool, values: &mut Values) {
    match take {
        Take::Columns(columns) => {
            for (row, column) in rows.iter().flat_map(|row| columns.iter().map(move |&column| (row, column))) {
                values.push(row[column].value());
            }
        }
        Take::Count => {
            values.int(rows.len() as i64);
        }
        Take::Sum(_) if rows.is_empty() => {
            values.null();
        }
        Take::Sum(column) => {
            values.int(rows.iter().map(|row| row[*column].int()).sum());
        }
        Take::Distinct(column) if ordered => {
            let mut seen = BTreeSet::new();
            rows.iter().map(|row| &row[*column]).filter(|cell| seen.insert(*cell)).for_each(|cell| {
                values.push(cell.value());
            });
        }
        Take::Distinct(column) => {
            let different: BTreeSet<&Cell> = rows.iter().map(|row| &row[*column]).collect();
            different.into_iter().for_each(|cell| {
                values.push(cell.value());
            });
        }
    }
}

/// Computes the columns that a database computes out of a document.
fn compute(table: &Table, row: &mut Row) {
    for (index, column) in table.columns.iter().enumerate() {
        if let Kind::JsonInt { of, key } = column.kind
            && let Cell::Text(body) = &row[table.column(of)]
        {
            let found = body.split_once(&format!("\"{key}\":")).map_or("", |(_, rest)| rest);
            let digits = found.find(|c: char| !c.is_ascii_digit()).map_or(found, |end| &found[..end]);
            row[index] = digits.parse().map_or(Cell::Null, Cell::Int);
        }
    }
}
