//! Layout of rows on pages: tables and indexes as B+trees, laid out from the catalogue's row sizes
//! as a bulk load leaves them, and growing at the ends of their groups.
//!
//! Page numbers are dense, so an array gives a page's frame. A row has a *position*: its rank in
//! the tree when it was loaded. Rows appended to a group (the orders of a district) are on pages of
//! their own after the loaded ones. Rows inserted elsewhere take the place of deleted rows.

use super::plan::{Op, Plan};
use std::num::NonZero;
use tameshi_workload::program::{Kind, Table};

/// Bytes of a page.
pub(super) const PAGE: u64 = 16 << 10;
/// Bytes of a page for records: without header, directory ends and trailer.
const ROOM: u64 = PAGE - 128;
/// Bytes of a page that a load fills: 15/16.
const LOADED: u64 = ROOM / 16 * 15;
/// Bytes of a page that random inserts fill on average (ln 2).
const SCATTERED: u64 = ROOM / 100 * 69;
/// Bytes of a clustered record beyond its values: transaction and roll pointer, record header, and
/// share of the page directory.
const CLUSTERED_EXTRA: u64 = 6 + 7 + 5 + 1;
/// Bytes of a secondary entry beyond its values: record header and share of the page directory.
const SECONDARY_EXTRA: u64 = 5 + 1;
/// Leaves between the ends of a range that an estimate of its rows reads (N_PAGES_READ_LIMIT).
const MOST_ESTIMATED: u32 = 9;
/// Bytes of an inner record beyond its key: page number and record header.
const INNER_EXTRA: u64 = 4 + 5 + 1;

/// Leaves of loaded tables: all, and those of secondary indexes.
pub(super) fn leaves_of(tables: &[Table]) -> (u64, u64) {
    tables.iter().fold((0, 0), |(all, secondary), table| {
        let clustered = leaves(table.rows, per_leaf(record_bytes(table), filled(table)));
        let entries = table.indexes.iter().map(|index| entry_bytes(table, &index.columns));
        let of_indexes: u64 = entries.map(|bytes| leaves(table.rows, per_leaf(bytes, LOADED))).sum();
        (all + clustered + of_indexes, secondary + of_indexes)
    })
}

fn per_leaf(record: u64, filled: u64) -> u64 {
    (filled / record).max(1)
}

fn leaves(rows: u64, per_leaf: u64) -> u64 {
    rows.div_ceil(per_leaf).max(1)
}

/// Bytes of a clustered tree's page that a load fills.
fn filled(table: &Table) -> u64 {
    let scattered = table.primary.first().is_some_and(|&key| matches!(table.columns[key].kind, Kind::Text(_)));
    if scattered { SCATTERED } else { LOADED }
}

/// Bytes of a table's mean clustered record.
pub(super) fn record_bytes(table: &Table) -> u64 {
    let variable = |kind: Kind| matches!(kind, Kind::Text(_) | Kind::Json);
    let lengths: u64 = table.columns.iter().map(|column| u64::from(variable(column.kind))).sum();
    let nulls = u64::from(table.columns.iter().any(|column| column.null));
    table.mean_row_bytes() + lengths + nulls + hidden_bytes(table) + CLUSTERED_EXTRA
}

/// Bytes of a secondary index's entry: its columns, and the other ones of the primary key.
fn entry_bytes(table: &Table, columns: &[usize]) -> u64 {
    let key = table.primary.iter().filter(|column| !columns.contains(column));
    let all = columns.iter().chain(key);
    all.map(|&column| u64::from(table.columns[column].mean_bytes)).sum::<u64>() + hidden_bytes(table) + SECONDARY_EXTRA
}

/// Bytes of the row number that replaces a missing primary key.
fn hidden_bytes(table: &Table) -> u64 {
    if table.primary.is_empty() { 6 } else { 0 }
}

fn key_bytes(table: &Table, columns: &[usize]) -> u64 {
    columns.iter().map(|&column| u64::from(table.columns[column].mean_bytes)).sum::<u64>().max(6)
}

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    first: u32,
    /// Leaves below one of its pages.
    leaves: u32,
}

/// A B+tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    first: u32,
    leaves: u32,
    per_leaf: u64,
    /// Root first.
    inner: [Level; 3],
    depth: usize,
    /// Rows of a group when it was loaded.
    group: u64,
    /// Further rows with room on a group's last leaf.
    spare: u64,
    /// Pages appended to each group.
    grown: Vec<Vec<u32>>,
    /// Bytes of a record.
    pub(super) record: u64,
}

impl Tree {
    fn new(next: &mut u32, rows: u64, (record, key): (u64, u64), filled: u64, groups: u64) -> Self {
        let per_leaf = per_leaf(record, filled);
        let leaves = leaves(rows, per_leaf) as u32;
        let first = *next;
        *next += leaves;
        let fan_out = (LOADED / (key + INNER_EXTRA)).max(2) as u32;
        let (mut inner, mut depth, mut under) = ([Level::default(); 3], 0, 1u32);
        let mut pages = leaves;
        while pages > 1 && depth < 3 {
            under = if depth == 2 { leaves } else { under.saturating_mul(fan_out) };
            pages = leaves.div_ceil(under);
            inner[depth] = Level { first: *next, leaves: under };
            *next += pages;
            depth += 1;
        }
        inner[..depth].reverse();
        let groups = groups.max(1);
        Self {
            first,
            leaves,
            per_leaf,
            inner,
            depth,
            group: rows / groups,
            spare: (ROOM - filled) / record,
            grown: vec![Vec::new(); groups as usize],
            record,
        }
    }

    /// First loaded leaf, and number of loaded leaves.
    pub(super) fn leaves(&self) -> (u32, u32) {
        (self.first, self.leaves)
    }

    /// Rows per leaf.
    pub(super) fn per_leaf(&self) -> u64 {
        self.per_leaf
    }

    /// The loaded leaf of a position.
    #[inline]
    pub(super) fn leaf(&self, position: u64) -> u32 {
        self.first + ((position / self.per_leaf) as u32).min(self.leaves - 1)
    }

    /// The leaf of row `index` of a group, which must exist.
    #[inline]
    pub(super) fn leaf_in(&self, group: u64, index: u64) -> u32 {
        let Some(more) = index.checked_sub(self.group + self.spare) else {
            return self.leaf(group * self.group + index.min(self.group.saturating_sub(1)));
        };
        let grown = &self.grown[group as usize];
        let at = (more / self.per_leaf) as usize;
        grown.get(at).copied().unwrap_or_else(|| self.last_leaf(group))
    }

    /// The last leaf of a group.
    pub(super) fn last_leaf(&self, group: u64) -> u32 {
        let grown = self.grown[group as usize].last();
        grown.copied().unwrap_or_else(|| self.leaf((group + 1) * self.group - 1))
    }

    /// Append row `index` of a group. Return its leaf, and whether that is new; `None` without
    /// room.
    fn append(&mut self, group: u64, index: u64, next: &mut u32, room: u32) -> Option<(u32, bool)> {
        let Some(more) = index.checked_sub(self.group + self.spare) else {
            return Some((self.leaf_in(group, index), false));
        };
        let at = (more / self.per_leaf) as usize;
        let grown = &mut self.grown[group as usize];
        let is_new = at >= grown.len();
        while at >= grown.len() && *next < room {
            grown.push(*next);
            *next += 1;
        }
        Some((*grown.get(at)?, is_new))
    }

    /// Plan the way from the root to above the leaf of a position.
    #[inline]
    pub(super) fn descend(&self, position: u64, plan: &mut Plan) {
        let leaf = self.leaf(position) - self.first;
        for level in &self.inner[..self.depth] {
            plan.get(level.first + leaf / level.leaves);
        }
    }

    /// Plan the way from the root to above the leaf of a group's row, or of its last loaded one.
    #[inline]
    pub(super) fn descend_in(&self, group: u64, index: u64, plan: &mut Plan) {
        self.descend(group * self.group + index.min(self.group.saturating_sub(1)), plan);
    }

    /// Plan the whole way to a row. Return its leaf.
    #[inline]
    pub(super) fn find(&self, position: u64, plan: &mut Plan) -> u32 {
        self.descend(position, plan);
        let leaf = self.leaf(position);
        plan.get(leaf);
        leaf
    }

    /// Plan the estimate of the rows from one position to another: the optimizer reads the leaves
    /// at both ends and the first nine between (btr0cur.cc: btr_estimate_n_rows_in_range).
    pub(super) fn estimate(&self, (first, last): (u64, u64), plan: &mut Plan) {
        self.estimate_to(first, (self.leaf(last), self.leaf(last)), plan);
    }

    /// Plan the estimate of all rows of a group.
    pub(super) fn estimate_group(&self, group: u64, plan: &mut Plan) {
        let first = group * self.group;
        let loaded = self.leaf(first + self.group.saturating_sub(1));
        self.estimate_to(first, (loaded, self.last_leaf(group)), plan);
    }

    fn estimate_to(&self, first: u64, (loaded, last): (u32, u32), plan: &mut Plan) {
        let from = self.find(first, plan);
        let between = (loaded + u32::from(last != loaded)).saturating_sub(from + 1).min(MOST_ESTIMATED);
        (from + 1..=from + between).for_each(|leaf| plan.get(leaf));
        if last != from {
            plan.get(last);
        }
    }

    /// Plan the change of an entry of a secondary index.
    #[inline]
    pub(super) fn entry(&self, position: u64, plan: &mut Plan) {
        self.descend(position, plan);
        plan.ops.push(Op::Secondary(self.leaf(position), (plan.records.entry + self.record) as u16));
    }
}

/// A table's clustered tree and secondary indexes.
#[derive(Clone, Debug)]
pub(super) struct PlacedTable {
    pub(super) clustered: Tree,
    pub(super) secondary: Vec<Tree>,
    /// The first page of the bitmap of leaves with buffered changes; the others follow.
    bitmaps: u32,
}

impl PlacedTable {
    fn has_leaf(&self, page: u32) -> bool {
        let mut trees = std::iter::once(&self.clustered).chain(&self.secondary);
        trees.any(|tree| (tree.first..tree.first + tree.leaves).contains(&page))
    }
}

/// Layout of a catalogue's tables and of the system's pages.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) tables: Vec<PlacedTable>,
    /// Rollback segments: first page, and number of pages.
    pub(super) undo: (u32, u32),
    /// The change buffer's tree: first page, and number of pages.
    pub(super) change_buffer: (u32, u32),
    /// Pages per page of a bitmap; `None`: there are no bitmaps.
    per_bitmap: Option<NonZero<u32>>,
    /// The next free page.
    pub(super) next: u32,
    /// Pages that the storage has room for.
    pub(super) room: u32,
    /// A page was needed beyond that room.
    pub(super) is_full: bool,
    /// First page added after loading.
    loaded: u32,
    /// Runs of added pages: the first page, and its table.
    appended: Vec<(u32, u8)>,
}

impl Layout {
    /// Lay out tables with `undo` pages of undo logs and `change_buffer` pages of its tree.
    /// `per_bitmap` is the number of pages per bitmap page, 0 without bitmaps; `groups` gives the
    /// number of groups of a table's rows.
    pub(super) fn new(
        tables: &[Table],
        (undo, change_buffer, per_bitmap): (u32, u32, u32),
        groups: impl Fn(usize) -> u64,
    ) -> Self {
        let per_bitmap = NonZero::new(per_bitmap);
        // Headers of the tablespace.
        let mut next = 8;
        let placed = place(tables, per_bitmap, &mut next, groups);
        let undo = (next, undo);
        let change_buffer = (undo.0 + undo.1, change_buffer.max(1));
        let next = change_buffer.0 + change_buffer.1;
        Self {
            tables: placed,
            undo,
            change_buffer,
            per_bitmap,
            next,
            room: u32::MAX,
            is_full: false,
            loaded: next,
            appended: Vec::new(),
        }
    }

    /// Lay out the tables of another data set of the same server, after all pages.
    pub(super) fn next_to(&self, tables: &[Table], groups: impl Fn(usize) -> u64) -> Self {
        let mut next = self.next;
        let tables = place(tables, self.per_bitmap, &mut next, groups);
        Self { tables, next, loaded: next, appended: Vec::new(), ..*self }
    }

    /// Append row `index` of a table's group. Return its leaf, and whether that is new. Without
    /// room rows crowd on the last leaf, until the run ends for want of space.
    pub(super) fn append(&mut self, table: usize, group: u64, index: u64) -> (u32, bool) {
        let first = self.next;
        let tree = &mut self.tables[table].clustered;
        let appended = tree.append(group, index, &mut self.next, self.room);
        if self.next > first {
            self.appended.push((first, table as u8));
        }
        appended.unwrap_or_else(|| {
            self.is_full = true;
            (tree.leaf_in(group, index), false)
        })
    }

    /// Table of a page added after loading; `None`: it is another data set's.
    fn appended_to(&self, page: u32) -> Option<usize> {
        let at = self.appended.partition_point(|(first, _)| *first <= page).checked_sub(1)?;
        (page < self.next).then(|| usize::from(self.appended[at].1))
    }

    /// Page of its table's bitmap for a leaf; `None` for other pages, or without bitmaps. Pages
    /// added after loading belong to the bitmap's last page.
    pub(super) fn bitmap_of(&self, page: u32) -> Option<u32> {
        let per_bitmap = self.per_bitmap?;
        let (table, page) = if page >= self.loaded {
            let table = &self.tables[self.appended_to(page)?];
            (table, table.bitmaps - 1)
        } else {
            let after = self.tables.partition_point(|table| table.clustered.first <= page);
            let table = &self.tables[after.checked_sub(1)?];
            (table, table.has_leaf(page).then_some(page)?)
        };
        Some(table.bitmaps + (page - table.clustered.first) / per_bitmap)
    }

    /// Data file of a page: 0 is the system's, each table has one, and other data sets count as one
    /// more.
    pub(super) fn file(&self, page: u32) -> u32 {
        let system = self.undo.0..self.change_buffer.0 + self.change_buffer.1;
        match page {
            page if page >= self.loaded => self.appended_to(page).unwrap_or(self.tables.len()) as u32 + 1,
            page if system.contains(&page) => 0,
            page => self.tables.partition_point(|table| table.clustered.first <= page) as u32,
        }
    }
}

fn place(
    tables: &[Table],
    per_bitmap: Option<NonZero<u32>>,
    next: &mut u32,
    groups: impl Fn(usize) -> u64,
) -> Vec<PlacedTable> {
    let placed = tables.iter().enumerate().map(|(number, table)| {
        let groups = groups(number);
        let sizes = (record_bytes(table), key_bytes(table, &table.primary));
        let clustered = Tree::new(next, table.rows, sizes, filled(table), groups);
        let secondary = table.indexes.iter().map(|index| {
            let sizes = (entry_bytes(table, &index.columns), key_bytes(table, &index.columns));
            Tree::new(next, table.rows, sizes, LOADED, groups)
        });
        let secondary = secondary.collect();
        let bitmaps = *next;
        *next += per_bitmap.map_or(0, |pages| (bitmaps - clustered.first).div_ceil(pages.get()));
        PlacedTable { clustered, secondary, bitmaps }
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tameshi_workload::program::{Manner, Program, ProgramSpec, Tpcc};

    fn tpcc(manner: Manner) -> Program {
        let spec = Tpcc {
            warehouses: Some(10),
            clients: 1,
            manner,
            waits: Default::default(),
            delivery: Default::default(),
            rate: None,
        };
        Program::new(&ProgramSpec::Tpcc(spec), 1)
    }

    #[test]
    fn pages_per_warehouse_match_a_loaded_server() {
        let program = tpcc(Manner::TpccMysql);
        let tables = &program.catalogue().tables;
        let layout = Layout::new(tables, (1, 1, 0), |_| 1);
        // Modelling facts, section 3: stock 2128, customer 1200 (25 rows a page), orders 100 or
        // more.
        let pages = |name: &str| {
            let number = tables.iter().position(|table| table.name == name).expect("a table");
            f64::from(layout.tables[number].clustered.leaves) / 10.0
        };
        assert!((pages("stock") / 2128.0 - 1.0).abs() < 0.03, "{}", pages("stock"));
        assert!((pages("customer") / 1200.0 - 1.0).abs() < 0.05, "{}", pages("customer"));
        assert!((pages("item") / 54.0 - 1.0).abs() < 0.25, "{}", pages("item"));
        let index_pages = f64::from(layout.tables[6].secondary[0].leaves) / 10.0;
        assert!((index_pages / 540.0 - 1.0).abs() < 0.1, "{index_pages}");
        // 1000 warehouses are 100 GB in tpcc-mysql's manner: the same facts, W23.
        let trees = layout.tables.iter().flat_map(|table| [&table.clustered].into_iter().chain(&table.secondary));
        let bytes = trees.map(|tree| u64::from(tree.leaves) * PAGE).sum::<u64>() as f64 / 10.0;
        assert!((bytes / 100e6 - 1.0).abs() < 0.03, "{bytes}");
    }

    #[test]
    fn trees_share_no_page_and_cover_the_layout() {
        let program = tpcc(Manner::TpccMysql);
        let layout = Layout::new(&program.catalogue().tables, (4, 16, 0), |_| 10);
        let other = layout.next_to(&program.catalogue().tables, |_| 10);
        let tables = layout.tables.iter().chain(&other.tables);
        let trees = tables.flat_map(|table| [&table.clustered].into_iter().chain(&table.secondary));
        let mut spans: Vec<(u32, u32)> = trees
            .flat_map(|tree| {
                let inner = tree.inner[..tree.depth].iter();
                let inner = inner.map(|level| (level.first, level.first + tree.leaves.div_ceil(level.leaves)));
                [(tree.first, tree.first + tree.leaves)].into_iter().chain(inner)
            })
            .chain([layout.undo, layout.change_buffer].map(|(first, count)| (first, first + count)))
            .collect();
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
        assert_eq!(spans.last().map(|span| span.1), Some(other.next));
    }

    #[test]
    fn tables_system_and_other_data_sets_have_files() {
        let program = tpcc(Manner::TpccMysql);
        let tables = &program.catalogue().tables;
        let layout = Layout::new(tables, (3, 5, 0), |_| 10);
        let other = layout.next_to(tables, |_| 10);
        for layout in [&layout, &other] {
            for (number, placed) in layout.tables.iter().enumerate() {
                let trees = std::iter::once(&placed.clustered).chain(&placed.secondary);
                for (first, leaves) in trees.map(Tree::leaves) {
                    assert_eq!([first, first + leaves - 1].map(|page| layout.file(page)), [number as u32 + 1; 2]);
                }
            }
            let system = [0, layout.undo.0, layout.undo.0 + layout.undo.1 - 1, layout.change_buffer.0];
            assert_eq!(system.map(|page| layout.file(page)), [0; 4]);
            assert_eq!(layout.file(layout.next), tables.len() as u32 + 1);
        }
    }

    #[test]
    fn bitmap_pages_cover_their_tables_leaves() {
        let program = tpcc(Manner::TpccMysql);
        let tables = &program.catalogue().tables;
        let layout = Layout::new(tables, (3, 5, 64), |_| 10);
        let other = layout.next_to(tables, |_| 10);
        let mut covered = BTreeMap::new();
        for layout in [&layout, &other] {
            for placed in &layout.tables {
                let trees = [&placed.clustered].into_iter().chain(&placed.secondary);
                for leaf in trees.clone().flat_map(|tree| tree.first..tree.first + tree.leaves) {
                    let bitmap = layout.bitmap_of(leaf).expect("every leaf has one");
                    assert_eq!(layout.file(bitmap), layout.file(leaf));
                    *covered.entry(bitmap).or_insert(0) += 1;
                }
                for root in trees.filter_map(|tree| tree.inner[..tree.depth].first()) {
                    assert_eq!(layout.bitmap_of(root.first), None);
                }
            }
            assert_eq!(layout.bitmap_of(layout.undo.0), None);
        }
        assert!(covered.values().all(|leaves| *leaves <= 64));
        // The last page of a table's bitmap covers fewer leaves, and so do those at ends of trees.
        let fewer = covered.values().filter(|leaves| **leaves < 64).count();
        assert!(fewer <= covered.len() / 50, "{fewer} of {} cover fewer", covered.len());
        let without = Layout::new(tables, (3, 5, 0), |_| 10);
        assert_eq!(without.bitmap_of(without.tables[0].clustered.first), None);
    }

    #[test]
    fn appended_rows_are_found_in_their_group() {
        let program = tpcc(Manner::TpccMysql);
        let mut layout = Layout::new(&program.catalogue().tables, (1, 1, 64), |_| 100);
        let tree = layout.tables[5].clustered.clone();
        let loaded = tree.group;
        let last = tree.leaf_in(7, loaded - 1);
        let mut pages = vec![last];
        for index in loaded..loaded + tree.spare + 5 * tree.per_leaf {
            let (page, is_new) = layout.append(5, 7, index);
            assert_eq!(is_new, pages.last() != Some(&page));
            pages.push(page);
            assert_eq!(layout.tables[5].clustered.leaf_in(7, index), page);
            assert_eq!([page, layout.bitmap_of(page).expect("a bitmap")].map(|page| layout.file(page)), [6; 2]);
        }
        assert_eq!(pages.iter().filter(|&&page| page == last).count() as u64, 1 + tree.spare);
        assert!(tree.spare * tree.record <= ROOM / 16 + 1, "a load leaves a sixteenth");
        pages.dedup();
        assert_eq!(pages.len(), 6);
        assert_eq!(tree.leaf_in(7, 0), tree.leaf(7 * loaded));
    }
}
