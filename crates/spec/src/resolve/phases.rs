//! Phases at the levels of the axes within the run, and which of them are repeated together.

use crate::errors::unknown_name;
use crate::resolve::{programs_of, streams_of};
use crate::run::{PhaseSpec, RoundsSpec, StorageSpec, Until};
use crate::study::{Amount, Rounds, Study, Tracked};
use crate::toml::axes::{AxisTable, Combination, combinations};
use crate::toml::document::{Source, Table};
use crate::validate::values;
use indexmap::IndexMap;
use std::collections::BTreeSet;
use tameshi_base::{InputError, InputErrorKind};

type Axes<'a, 't> = Vec<&'a AxisTable<'t>>;

/// The phases of a run.
pub(crate) struct Expanded {
    pub(crate) phases: Vec<PhaseSpec>,
    /// Of each phase the bytes to move as written: what part of a storage is, is known once
    /// storages are.
    pub(crate) amounts: Vec<Option<Amount>>,
    pub(crate) rounds: Vec<RoundsSpec>,
}

impl Expanded {
    /// Makes parts of storages into bytes: of their size as the study states it, before any
    /// capacity scale.
    pub(crate) fn resolve_amounts(&mut self, storages: &IndexMap<String, StorageSpec>) {
        for (phase, amount) in self.phases.iter_mut().zip(&self.amounts) {
            let used: BTreeSet<&String> = phase.streams.iter().map(|stream| &stream.storage).collect();
            let stated = |storage: &StorageSpec| storage.size.0.saturating_mul(u64::from(storage.scale));
            let bytes = used.iter().map(|name| stated(&storages[*name])).sum();
            phase.until.amount = amount.map(|amount| amount.bytes(bytes));
        }
    }
}

/// Adjacent phases: repeated as rounds, or between rounds.
struct Unit<'a> {
    rounds: Option<(&'a str, &'a Rounds)>,
    names: Vec<&'a str>,
}

/// The phases of a run in order, and its rounds: neighbours over the same axes repeat together.
pub(crate) fn expand(
    source: Source<'_>,
    cell: &Combination<'_>,
    study: &Study,
    within: &[&AxisTable<'_>],
) -> Result<Expanded, InputError> {
    let (mut phases, mut amounts, mut all_rounds) = (Vec::new(), Vec::new(), Vec::new());
    for unit in units(source, &cell.table, study)? {
        let outside = match unit.rounds {
            Some((name, rounds)) => values::axes_named(source, &cell.table, &["rounds", name], &rounds.over, within)?,
            None => Vec::new(),
        };
        for outer in combinations(&cell.table, &outside) {
            let first = phases.len();
            expand_unit(source, &outer, study, (&unit.names, within, &outside), (&mut phases, &mut amounts))?;
            if let Some((name, rounds)) = unit.rounds {
                let tracked = tracked(source, &outer.table, name, rounds, &phases[first..])?;
                all_rounds.push(RoundsSpec {
                    name: name.to_string(),
                    levels: outer.levels.clone(),
                    first: first as u32,
                    phases: (phases.len() - first) as u32,
                    times: rounds.times,
                    steady: rounds.steady,
                    tracked: tracked.into_iter().map(|index| index + first as u32).collect(),
                });
            }
        }
    }
    Ok(Expanded { phases, amounts, rounds: all_rounds })
}

/// The phases in order, cut where rounds begin and end.
fn units<'a>(source: Source<'_>, table: &Table<'_>, study: &'a Study) -> Result<Vec<Unit<'a>>, InputError> {
    values::rounds(source, table, study)?;
    let mut units: Vec<Unit<'a>> = Vec::new();
    for name in study.phase.keys() {
        let rounds = study.rounds.iter().find(|(_, rounds)| rounds.phases.contains(name));
        let rounds = rounds.map(|(name, rounds)| (name.as_str(), rounds));
        match units.last_mut() {
            Some(unit) if unit.rounds.map(|(name, _)| name) == rounds.map(|(name, _)| name) => unit.names.push(name),
            _ => units.push(Unit { rounds, names: vec![name] }),
        }
    }
    for (name, rounds) in &study.rounds {
        let whole = units.iter().any(|unit| unit.names == rounds.phases);
        if !whole {
            let message = "the phases of a round are neighbours, named in the order in which they stand";
            let mut error = source.error_at(table, &["rounds", name, "phases"], InputErrorKind::Conflict, message);
            error.accepted = vec![study.phase.keys().cloned().collect::<Vec<_>>().join(", ")];
            return Err(error);
        }
    }
    Ok(units)
}

fn expand_unit(
    source: Source<'_>,
    outer: &Combination<'_>,
    study: &Study,
    (unit, within, outside): (&[&str], &[&AxisTable<'_>], &Axes<'_, '_>),
    (phases, amounts): (&mut Vec<PhaseSpec>, &mut Vec<Option<Amount>>),
) -> Result<(), InputError> {
    let names = |axes: &[&AxisTable<'_>]| axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
    let outside = names(outside);
    let mut groups: Vec<(Axes<'_, '_>, Vec<&str>)> = Vec::new();
    for name in unit {
        let mut over = values::over(source, &outer.table, name, &study.phase[*name], within)?;
        over.retain(|axis| !outside.contains(&axis.name));
        match groups.last_mut() {
            Some((axes, group)) if names(axes) == names(&over) => group.push(name),
            _ => groups.push((over, vec![name])),
        }
    }
    for (axes, names) in groups {
        for combination in combinations(&outer.table, &axes) {
            let varied: Study = source.typed(&combination.table)?;
            values::study(source, &combination.table, &varied)?;
            values::same_engine(source, &combination.table, study, &varied, &axes)?;
            for name in &names {
                let phase =
                    varied.phase.get(*name).or_else(|| study.phase.get(*name)).expect("the group is made of phases");
                amounts.push(phase.until.amount);
                let levels = outer.levels.iter().chain(&combination.levels);
                phases.push(PhaseSpec {
                    name: (*name).to_string(),
                    levels: levels.map(|(axis, level)| (axis.clone(), level.clone())).collect(),
                    streams: streams_of(source, &combination.table, &varied, name, phase)?,
                    programs: programs_of(&varied, phase),
                    ramp: phase.ramp,
                    until: Until { time: phase.until.time, amount: None, steady: phase.until.steady },
                });
            }
        }
    }
    Ok(())
}

/// Places of the phases that must be steady, among those of the round.
fn tracked(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    rounds: &Rounds,
    phases: &[PhaseSpec],
) -> Result<Vec<u32>, InputError> {
    if rounds.steady.is_none() {
        return Ok(Vec::new());
    }
    let fits = |wanted: &Tracked, phase: &PhaseSpec| {
        let at = |axis: &String| phase.levels.get(axis);
        phase.name == wanted.phase && wanted.levels.iter().all(|(axis, level)| at(axis) == Some(&level.0))
    };
    let Some(wanted) = &rounds.tracked else {
        let busy = |index: &u32| !phases[*index as usize].streams.is_empty();
        return Ok((0..phases.len() as u32).filter(busy).collect());
    };
    for (place, one) in wanted.iter().enumerate() {
        if !phases.iter().any(|phase| fits(one, phase)) {
            let place = place.to_string();
            let there = phases.iter().map(|phase| described(&phase.name, phase.levels.iter())).collect();
            let found = described(&one.phase, one.levels.iter().map(|(axis, level)| (axis, &level.0)));
            let what = "phase at these levels in the round:";
            return Err(unknown_name(source, table, &["rounds", name, "tracked", &place], what, &found, there));
        }
    }
    let chosen = |phase: &PhaseSpec| wanted.iter().any(|one| fits(one, phase));
    Ok(phases.iter().zip(0..).filter(|(phase, _)| chosen(phase)).map(|(_, index)| index).collect())
}

fn described<'a>(phase: &str, levels: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let levels: Vec<String> = levels.map(|(axis, level)| format!(" {axis}={level}")).collect();
    format!("{phase}{}", levels.concat())
}
