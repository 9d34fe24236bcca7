//! Facts of all cells together, gathered cell by cell: refusals, bounds, and checks after the last.

use crate::plan::budget::Budget;
use crate::plan::{Plan, RepeatedRun, Request, Resolved, search};
use crate::refusal::{CellTables, LocatedRefusal, Refusal, WorldCheck, of_study};
use crate::run::RunSpec;
use crate::study::Study;
use crate::study::summary::{Summary, summarise};
use crate::toml::axes::{AxisTable, Combination, UnknownTable};
use crate::toml::document::{Source, Table};
use crate::validate::event_order::EventOrder;
use crate::validate::names::Names;
use crate::validate::{answer, bounds, published, unused_overlays};
use std::collections::BTreeSet;
use tameshi_base::InputError;

/// Facts of the cells so far.
pub(crate) struct Gathered<'a, 't> {
    source: Source<'t>,
    request: &'a Request,
    within: &'a [&'a AxisTable<'t>],
    check: WorldCheck<'a>,
    /// Study and run of the first cell.
    first: Option<(Study, RunSpec)>,
    names: Names,
    events: EventOrder,
    /// Runs without their repetitions, and with them.
    counts: (u64, u64),
    seen: BTreeSet<Refusal>,
    refusals: Vec<LocatedRefusal>,
    budget: Budget,
}

impl<'a, 't> Gathered<'a, 't> {
    /// Without any cell.
    pub(crate) fn new(
        source: Source<'t>,
        request: &'a Request,
        within: &'a [&'a AxisTable<'t>],
        check: WorldCheck<'a>,
    ) -> Self {
        Self {
            source,
            request,
            within,
            check,
            first: None,
            names: Names::default(),
            events: EventOrder::default(),
            counts: (0, 0),
            seen: BTreeSet::new(),
            refusals: Vec::new(),
            budget: Budget::new(),
        }
    }

    /// Add a cell.
    pub(crate) fn add(&mut self, cell: &Combination<'t>, resolved: &Resolved) {
        self.names.add(&resolved.run);
        self.events.add(self.source, &cell.table, &resolved.run);
        if self.first.is_none() {
            self.first = Some((resolved.study.clone(), resolved.run.clone()));
        }
    }

    /// Add a run of a cell; return it if the request asks for its cell.
    pub(crate) fn add_run(&mut self, cell: &Combination<'t>, resolved: &Resolved, run: RunSpec) -> Option<RepeatedRun> {
        let repetitions = if run.unknown.is_empty() { resolved.study.run.repetitions } else { 1 };
        self.counts.0 += 1;
        self.counts.1 += u64::from(repetitions);
        if !self.request.wants(&run.cell) {
            return None;
        }
        self.refuse(cell, resolved, &run);
        self.budget.add(&run, repetitions.into());
        Some(RepeatedRun { run, seed: resolved.study.run.seed, repetitions })
    }

    /// Add the refusals of a run: each once, at its place in the first cell that has it.
    fn refuse(&mut self, cell: &Combination<'t>, resolved: &Resolved, run: &RunSpec) {
        let Resolved { study, has_programs, .. } = resolved;
        let of_study = of_study(study, self.request.world, *has_programs, &self.request.bound_events);
        for refusal in of_study.into_iter().chain((self.check)(run)) {
            if self.seen.contains(&refusal) {
                continue;
            }
            let within = self.within.iter().flat_map(|axis| &axis.levels).map(|(_, level)| level).collect();
            let tables = CellTables { table: &cell.table, within };
            self.refusals.push(tables.locate(self.source, self.request.world, &refusal));
            self.seen.insert(refusal);
        }
    }

    /// Check all cells together, and return the plan without its runs.
    pub(crate) fn finish(
        self,
        name: &str,
        document: &Table<'t>,
        (axes, unknowns, overlays): (&[AxisTable<'t>], &[UnknownTable<'t>], &[&AxisTable<'t>]),
        with_quick: bool,
    ) -> Result<Plan, InputError> {
        let source = self.source;
        self.events.check()?;
        let (study, run) = self.first.expect("a product of non-empty axes has a combination");
        let mut summary = Summary { quick: with_quick, ..summarise(name, &study, axes, unknowns) };
        if with_quick {
            leave_out_absent(&mut summary);
        }
        published::check(source, document, &study.published, &summary, &self.names)?;
        answer::check(source, document, &summary, &self.names)?;
        if study.search.is_some() {
            search::check(source, document, &study, &run, &summary)?;
        }
        unused_overlays::are_used(source, overlays, document, &self.names)?;
        if summary.search.is_some() {
            summary.axes.extend(search::axis(&self.request.rates));
        }
        bounds::runs(source, document, self.counts, self.request.packed)?;
        Ok(Plan {
            study: summary,
            runs: Vec::new(),
            refusals: self.refusals,
            time_ns_at_most: self.budget.time_ns,
            bytes_written_at_most: self.budget.written_bytes,
            storage_bytes: self.budget.storage_bytes,
        })
    }
}

/// Leave out figures and answers of levels that the quick part has replaced.
fn leave_out_absent(summary: &mut Summary) {
    let Summary { axes: known, published, answer, .. } = summary;
    let known = |name: &String, level: &String| known.iter().any(|a| a.name == *name && a.levels.contains(level));
    published.retain(|figure| figure.cell.iter().all(|(axis, level)| known(axis, &level.0)));
    for answer in answer.iter_mut() {
        for (axis, pairs) in &mut answer.levels {
            pairs.retain(|level, base| known(axis, level) && known(axis, &base.0));
        }
        answer.table.retain(|table| table.at.iter().chain(&table.base).all(|(axis, level)| known(axis, &level.0)));
    }
}
