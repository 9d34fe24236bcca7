//! Planner of statements that need no values of rows.

use super::layout::Layout;
use super::plan::{Op, Plan};
use tameshi_workload::program::relation::{Bounds, Limit, Read, Set, Take};
use tameshi_workload::program::{Catalogue, Kind, Reply, Shape, Statement, Value, Values};

/// Place of a key among all keys of an index: scattered evenly.
#[inline]
pub(super) fn scattered(key: u64, rows: u64) -> u64 {
    let mut mixed = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((u128::from(mixed ^ (mixed >> 31)) * u128::from(rows)) >> 64) as u64
}

/// Rank of a row by its primary key: numbers from 1 on are ranks, text is a hash (YCSB's keys).
fn position(value: Value<'_>, rows: u64) -> u64 {
    match value {
        Value::Int(key) => (key.max(1) - 1) as u64,
        Value::Null => 0,
        Value::Text(text) => {
            let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
            let number: u64 = digits.parse().unwrap_or(0);
            ((u128::from(number) * u128::from(rows)) >> 64) as u64
        }
    }
}

fn lock_key(value: Value<'_>) -> u64 {
    match value {
        Value::Int(key) => key as u64 & 0xFFFF_FFFF_FFFF,
        Value::Null => 0,
        Value::Text(text) => {
            text.bytes()
                .fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211))
                & 0xFFFF_FFFF_FFFF
        }
    }
}

/// Planner for programs whose clients ignore replies, on tables with a primary key of one column.
#[derive(Debug)]
pub(super) struct Planner {
    /// Rows appended to each table since it was loaded.
    appended: Vec<u64>,
}

impl Planner {
    pub(super) fn new(catalogue: &Catalogue) -> Self {
        Self { appended: vec![0; catalogue.tables.len()] }
    }

    /// Plan a statement, and answer it with as many rows as there are.
    pub(super) fn statement(
        &mut self,
        catalogue: &Catalogue,
        layout: &mut Layout,
        statement: &Statement,
        plan: &mut Plan,
        reply: &mut Reply,
    ) {
        let parameters = &statement.parameters;
        reply.restart(1);
        match &catalogue.shapes[statement.shape as usize] {
            Shape::Get { lookups, lock } => {
                for (at, lookup) in lookups.iter().enumerate() {
                    if *lock {
                        plan.lock(lookup.table, lock_key(parameters.get(at)));
                    }
                    let rows = catalogue.tables[lookup.table].rows;
                    self.find(layout, lookup.table, parameters.get(at), rows, plan);
                    plan.rows += 1;
                }
                reply.values.int(0);
            }
            Shape::Read(read) => self.read(catalogue, layout, read, parameters, plan),
            Shape::Update { table, set, .. } => {
                reply.affected = 1;
                self.update(catalogue, layout, (*table, set), parameters, plan);
            }
            Shape::Delete { table, .. } => {
                reply.affected = 1;
                let key = parameters.get(0);
                plan.lock(*table, lock_key(key));
                let page = self.find(layout, *table, key, catalogue.tables[*table].rows, plan);
                plan.delete(page);
                self.entries(layout, *table, lock_key(key), plan);
            }
            Shape::Insert { table, columns } => {
                reply.affected = 1;
                self.insert(catalogue, layout, (*table, columns), parameters, plan);
            }
            Shape::CountJoined(_) => unreachable!("only TPC-C joins, and it has a planner of its own"),
        }
    }

    fn find(&self, layout: &Layout, table: usize, key: Value<'_>, rows: u64, plan: &mut Plan) -> u32 {
        let tree = &layout.tables[table].clustered;
        let position = position(key, rows);
        if position < rows {
            return tree.find(position, plan);
        }
        tree.descend_in(0, position, plan);
        let leaf = tree.leaf_in(0, position);
        plan.get(leaf);
        leaf
    }

    fn read(&self, catalogue: &Catalogue, layout: &Layout, read: &Read, parameters: &Values, plan: &mut Plan) {
        let (rows, tree) = (catalogue.tables[read.table].rows, &layout.tables[read.table].clustered);
        let (first, count) = match (read.bounds, read.limit) {
            (Some(Bounds::Between(_)), _) => {
                let low = position(parameters.get(0), rows);
                (low, position(parameters.get(1), rows).min(rows - 1).saturating_sub(low) + 1)
            }
            (Some(Bounds::From(_)), Limit::Parameter) => {
                let low = position(parameters.get(0), rows);
                (low, (position(parameters.get(1), u64::MAX) + 1).min(rows - low.min(rows - 1)))
            }
            _ => {
                let (first, leaves) = tree.leaves();
                plan.rows += u64::from(matches!(read.take, Take::Sum(_)));
                tree.descend(0, plan);
                plan.ops.push(Op::Scan(first, first + leaves, tree.per_leaf() as u16));
                return;
            }
        };
        if first >= rows {
            return;
        }
        tree.descend(first, plan);
        (tree.leaf(first)..=tree.leaf((first + count - 1).min(rows - 1))).for_each(|leaf| plan.get(leaf));
        plan.rows += count;
    }

    fn update(
        &self,
        catalogue: &Catalogue,
        layout: &Layout,
        (table, set): (usize, &[Set]),
        parameters: &Values,
        plan: &mut Plan,
    ) {
        let given = set.iter().filter(|set| !matches!(set, Set::AddFixed(..))).count();
        let (key, description) = (parameters.get(given), &catalogue.tables[table]);
        let column = |set: &Set| match *set {
            Set::To(column) | Set::Add(column) | Set::AddFixed(column, _) => column,
        };
        let changed = |set: &Set| u64::from(description.columns[column(set)].mean_bytes);
        // The old value goes into the undo record, the new one into the redo record.
        let bytes = 2 * set.iter().map(changed).sum::<u64>();
        plan.lock(table, lock_key(key));
        let page = self.find(layout, table, key, description.rows, plan);
        plan.update(page, bytes);
        for (index, tree) in description.indexes.iter().zip(&layout.tables[table].secondary) {
            if set.iter().any(|set| index.columns.contains(&column(set))) {
                // The new value is one more than the old one: both entries are on one leaf nearly
                // always.
                let place = scattered(lock_key(key), description.rows);
                tree.entry(place, plan);
                tree.entry(place, plan);
            }
        }
    }

    fn entries(&self, layout: &Layout, table: usize, key: u64, plan: &mut Plan) {
        let placed = &layout.tables[table];
        let (_, leaves) = placed.clustered.leaves();
        let rows = u64::from(leaves) * placed.clustered.per_leaf();
        placed.secondary.iter().for_each(|tree| tree.entry(scattered(key, rows), plan));
    }

    fn insert(
        &mut self,
        catalogue: &Catalogue,
        layout: &mut Layout,
        (table, columns): (usize, &[usize]),
        parameters: &Values,
        plan: &mut Plan,
    ) {
        let description = &catalogue.tables[table];
        let key = columns.iter().position(|&column| description.primary.first() == Some(&column));
        let key = key.map_or(Value::Null, |at| parameters.get(at));
        let textual = matches!(key, Value::Text(_));
        let ordinal = match key {
            Value::Null => description.rows + self.appended[table],
            key => position(key, description.rows),
        };
        let lock = if textual { lock_key(key) } else { ordinal + 1 };
        plan.lock(table, lock);
        let tree = &layout.tables[table].clustered;
        let bytes = tree.record;
        tree.descend_in(0, ordinal, plan);
        if ordinal < description.rows {
            let page = tree.leaf(ordinal);
            plan.get(page);
            plan.insert(page, false, bytes);
        } else {
            self.appended[table] = self.appended[table].max(ordinal + 1 - description.rows);
            let (page, is_new) = layout.append(table, 0, ordinal);
            if !is_new {
                plan.get(page);
            }
            plan.insert(page, is_new, bytes);
        }
        let integer = |column: usize| matches!(description.columns[column].kind, Kind::Int | Kind::BigInt);
        // The entry's place follows from the new value, where it is a number.
        let value = description.indexes.first().and_then(|index| {
            let at = columns.iter().position(|column| index.columns.first() == Some(column))?;
            integer(columns[at]).then(|| lock_key(parameters.get(at)))
        });
        self.entries(layout, table, value.unwrap_or(lock), plan);
    }
}
