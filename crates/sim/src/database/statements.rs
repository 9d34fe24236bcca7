//! Statements of the phase's program: its tables, and the planner of its statements.

use super::binlog_events::{EventSizes, StatementBytes};
use super::connection::Connection;
use super::data_sets::{DataSet, Logic};
use super::layout::Layout;
use super::plan::{Op, Plan};
use super::pool::NONE;
use super::tpcc::Undo;
use super::undo_log::Segments;
use super::validation;
use tameshi_workload::program::{Catalogue, Program, ProgramSpec, Reply, Seeds, Shape, Statement};

/// The program at work, its catalogue and planner, and those of other data sets.
pub(super) struct Statements {
    pub(super) seeds: Seeds,
    pub(super) spec: ProgramSpec,
    pub(super) program: Program,
    pub(super) catalogue: Catalogue,
    pub(super) logic: Logic,
    /// Data sets on which the phase doesn't work.
    pub(super) idle: Vec<DataSet>,
    pub(super) segments: Segments,
    /// Statements lock the rows that they change.
    pub(super) locks_rows: bool,
    /// Sizes of the binary log's events; `None`: it is off.
    pub(super) event_sizes: Option<EventSizes>,
    /// Bytes of each statement's events; empty without a binary log.
    pub(super) events: Vec<StatementBytes>,
}

impl Statements {
    /// Switch to the program of a phase, on the same tables or on others.
    pub(super) fn switch_to(&mut self, spec: &ProgramSpec, layout: &mut Layout) {
        if self.spec == *spec {
            return;
        }
        if !validation::same_data(&self.spec, spec) {
            let next = layout.next;
            let Some(set) = self.idle.iter_mut().find(|set| validation::same_data(&set.spec, spec)) else { return };
            std::mem::swap(layout, &mut set.layout);
            std::mem::swap(&mut self.logic, &mut set.logic);
            set.spec = self.spec.clone();
            layout.next = next;
        }
        self.spec = spec.clone();
        self.program = Program::new(spec, self.seeds.data);
        self.catalogue = self.program.catalogue().clone();
        self.measure_events();
    }

    /// Compute the bytes of the events of the program's statements.
    pub(super) fn measure_events(&mut self) {
        self.events = self.event_sizes.map_or_else(Vec::new, |sizes| sizes.of_statements(&self.catalogue));
    }

    /// Bytes of the binary log for a statement that changes rows.
    #[inline]
    pub(super) fn event_bytes(&self, shape: u16, rows: u64) -> u64 {
        self.events.get(shape as usize).map_or(0, |bytes| bytes.of(rows))
    }

    /// Shape of a connection's statement.
    pub(super) fn shape(&self, connection: &Connection) -> &Shape {
        &self.catalogue.shapes[connection.statement.shape as usize]
    }

    /// Plan a connection's statement, answer it, and plan its undo records.
    pub(super) fn plan(&mut self, connection: &mut Connection, layout: &mut Layout) {
        connection.plan.clear();
        let Connection { statement, reply, plan, changes, cursor, .. } = connection;
        self.plan_into(layout, (statement, reply, plan, &mut changes.undo));
        // Without row locks no answer can become out of date while the statement waits.
        cursor.has_locks = self.locks_rows && plan.ops.iter().any(|op| matches!(op, Op::Lock(_)));
        (cursor.at, cursor.scan, cursor.waited, cursor.gets) = (0, NONE, false, 0);
        if plan.changed > 0 {
            let inserts = matches!(self.catalogue.shapes[statement.shape as usize], Shape::Insert { .. });
            self.segments.plan(&mut changes.undo_slot, inserts, plan);
        }
    }

    /// Answer a statement again that has waited for locks: the rows may have changed meanwhile.
    pub(super) fn answer_again(&mut self, connection: &mut Connection, layout: &mut Layout) {
        let Connection { statement, reply, plan, changes, .. } = connection;
        let (steps, rows, changed) = (plan.ops.len(), plan.rows, plan.changed);
        self.plan_into(layout, (statement, reply, plan, &mut changes.undo));
        plan.ops.truncate(steps);
        (plan.rows, plan.changed) = (rows, changed);
    }

    /// Plan a statement and answer it.
    pub(super) fn plan_into(
        &mut self,
        layout: &mut Layout,
        (statement, reply, plan, undo): (&Statement, &mut Reply, &mut Plan, &mut Vec<Undo>),
    ) {
        match &mut self.logic {
            Logic::Plain(planner) => planner.statement(&self.catalogue, layout, statement, plan, reply),
            Logic::Tpcc(state) => state.statement(layout, statement, (plan, reply), undo),
        }
    }

    /// Undo the changes of a transaction.
    pub(super) fn roll_back(&mut self, undo: &mut Vec<Undo>) {
        if let Logic::Tpcc(state) = &mut self.logic {
            state.roll_back(undo);
        }
    }
}
