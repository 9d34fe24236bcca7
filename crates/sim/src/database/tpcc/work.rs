//! A statement of TPC-C that is being planned.

use super::Undo;
use crate::database::layout::Layout;
use crate::database::plan::Plan;
use tameshi_workload::program::{Reply, Statement, Value};

/// A statement with its plan, its reply, and the transaction's undo records.
pub(super) struct Work<'a> {
    pub(super) layout: &'a mut Layout,
    pub(super) statement: &'a Statement,
    pub(super) plan: &'a mut Plan,
    pub(super) reply: &'a mut Reply,
    pub(super) undo: &'a mut Vec<Undo>,
}

impl Work<'_> {
    pub(super) fn int(&self, at: usize) -> i64 {
        if let Value::Int(value) = self.statement.parameters.get(at) { value } else { 0 }
    }

    /// Get a row by its position.
    pub(super) fn found(&mut self, table: usize, position: u64, lock: bool) -> u32 {
        let page = self.layout.tables[table].clustered.find(position, self.plan);
        if lock {
            self.plan.lock(table, position);
        }
        self.plan.rows += 1;
        page
    }

    /// Get a row of a group.
    pub(super) fn found_in(&mut self, table: usize, group: u64, index: u64) -> u32 {
        let tree = &self.layout.tables[table].clustered;
        tree.descend_in(group, index, self.plan);
        let page = tree.leaf_in(group, index);
        self.plan.get(page);
        self.plan.rows += 1;
        page
    }

    /// Change a row whose lock is held already.
    pub(super) fn changed(&mut self, table: usize, position: u64, bytes: u64) {
        let page = self.layout.tables[table].clustered.find(position, self.plan);
        self.plan.update(page, bytes);
        self.reply.affected = 1;
    }

    /// Estimate rows in the first secondary index, if there is one, as the optimizer does for an
    /// update by the primary key if that index begins with a part of it.
    pub(super) fn estimated(&mut self, table: usize, (first, last): (u64, u64)) {
        let trees = &self.layout.tables[table].secondary;
        trees.iter().take(1).for_each(|tree| tree.estimate((first, last), self.plan));
    }

    pub(super) fn changed_locked(&mut self, table: usize, position: u64, bytes: u64) {
        self.plan.lock(table, position);
        self.changed(table, position, bytes);
    }

    /// Append a row to a group.
    pub(super) fn append(&mut self, table: usize, group: u64, index: u64) {
        let tree = &self.layout.tables[table].clustered;
        tree.descend_in(group, index, self.plan);
        let last = tree.last_leaf(group);
        let (page, is_new) = self.layout.append(table, group, index);
        let tree = &self.layout.tables[table].clustered;
        if is_new {
            self.plan.split(table, (last, page), tree.record);
        } else {
            self.plan.get(page);
            self.plan.insert(page, false, tree.record);
        }
        self.reply.affected = 1;
    }
}
