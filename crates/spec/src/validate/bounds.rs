//! Bounds on runs, recorded intervals and windows of a study.

use crate::errors::bad_value;
use crate::run::PhaseSpec;
use crate::study::{Study, Varies};
use crate::toml::axes::{AxisTable, UnknownTable};
use crate::toml::document::{Source, Table};
use tameshi_base::{InputError, InputErrorKind, Time};
use toml::Spanned;

type Checked = Result<(), InputError>;

/// Runs of a cell, runs of a study, and runs of one whose records are packed.
const MOST_REPETITIONS: u32 = 10_000;
const MOST_RUNS: u64 = 10_000;
const MOST_PACKED_RUNS: u64 = 100_000;
/// Combinations of the axes within a run: each repeats the phases.
const MOST_WITHIN: u64 = 10_000;
/// The shortest interval that is recorded, and how many a phase may have.
const LEAST_INTERVAL: Time = Time(1_000);
const MOST_INTERVALS: u64 = 1_000_000;

/// Neither the combinations of the axes nor the runs of them are too many; `document` still has its
/// axes.
pub(crate) fn combinations(
    source: Source<'_>,
    document: &Table<'_>,
    (axes, unknowns): (&[AxisTable<'_>], &[UnknownTable<'_>]),
    packed: bool,
) -> Checked {
    let spanned = |varies| {
        let levels = axes.iter().filter(|axis| axis.varies == varies).map(|axis| axis.levels.len() as u64);
        levels.fold(1, u64::saturating_mul)
    };
    let tried: u64 = unknowns.iter().map(|unknown| unknown.axis.levels.len() as u64 - 1).sum();
    let cells = spanned(Varies::Across).saturating_mul(1 + tried);
    for (count, what, most) in
        [(cells, "cells", most_runs(packed)), (spanned(Varies::Within), "combinations within a run", MOST_WITHIN)]
    {
        if count > most {
            let message = format!("the levels of the axes span {count} {what}");
            let mut error = bad_value(source, document, &["axis"], message, &format!("at most {most}"));
            error.found = count.to_string();
            if what == "cells" {
                error.accepted.extend(packed_remedy(count, packed));
            }
            return Err(error);
        }
    }
    let run = document.get("run").and_then(|run| run.get_ref().as_table());
    let written = run.and_then(|run| run.get("repetitions")).map(Spanned::get_ref);
    let integer = written.and_then(|value| value.as_integer()).map(|written| written.as_str().replace('_', ""));
    let repetitions: Option<u64> = integer.and_then(|digits| digits.parse().ok());
    // Typing the study refuses more per cell, or a value that is no number.
    let within = repetitions.filter(|&repetitions| repetitions <= u64::from(MOST_REPETITIONS));
    let assumed = cells / (1 + tried);
    let more = |repetitions: u64| cells.saturating_add(assumed.saturating_mul(repetitions.saturating_sub(1)));
    runs(source, document, (cells, within.map_or(0, more)), packed)
}

/// Check the number of runs of a study and of their cells.
pub(crate) fn runs(source: Source<'_>, table: &Table<'_>, (cells, runs): (u64, u64), packed: bool) -> Checked {
    let most = most_runs(packed);
    if runs <= most {
        return Ok(());
    }
    let message = format!("these would be {runs} runs of {cells} cells; a study has at most {most}");
    let accepted = format!("1 to {}, or fewer levels", most / cells.max(1));
    let mut error = bad_value(source, table, &["run", "repetitions"], message, &accepted);
    error.accepted.extend(packed_remedy(runs, packed));
    Err(error)
}

fn most_runs(packed: bool) -> u64 {
    if packed { MOST_PACKED_RUNS } else { MOST_RUNS }
}

/// Way to plan that many runs, if there is one.
fn packed_remedy(runs: u64, packed: bool) -> Option<String> {
    let is_one = !packed && runs <= MOST_PACKED_RUNS;
    is_one.then(|| format!("up to {MOST_PACKED_RUNS} with --records parquet"))
}

/// Repetitions and the interval of a study by themselves.
pub(crate) fn values(source: Source<'_>, table: &Table<'_>, study: &Study) -> Checked {
    let (repetitions, interval) = (study.run.repetitions, study.run.interval);
    if !(1..=MOST_REPETITIONS).contains(&repetitions) {
        let message = if repetitions == 0 { "must be greater than zero" } else { "too many runs of a cell" };
        return Err(bad_value(source, table, &["run", "repetitions"], message, &format!("1 to {MOST_REPETITIONS}")));
    }
    if interval < LEAST_INTERVAL {
        let message = if interval.0 == 0 { "must be greater than zero" } else { "the recording interval is too short" };
        return Err(bad_value(source, table, &["run", "interval"], message, &format!("{LEAST_INTERVAL} or more")));
    }
    Ok(())
}

/// No phase has more intervals than can be kept.
pub(crate) fn intervals(source: Source<'_>, table: &Table<'_>, study: &Study, phases: &[PhaseSpec]) -> Checked {
    let (path, interval) = (["run", "interval"], study.run.interval);
    for phase in phases {
        let Some(time) = phase.until.time else { continue };
        if time.0 / interval.0 > MOST_INTERVALS {
            let message = format!("phase `{}` of {time} would have {} intervals", phase.name, time.0 / interval.0);
            let least = Time(time.0.div_ceil(MOST_INTERVALS).next_multiple_of(LEAST_INTERVAL.0));
            let accepted = format!("{least} or more, at most {MOST_INTERVALS} intervals in a phase");
            return Err(bad_value(source, table, &path, message, &accepted));
        }
    }
    Ok(())
}

/// Check that windows end after their begin, and begin before the end of their phases.
pub(crate) fn windows(source: Source<'_>, table: &Table<'_>, study: &Study, phases: &[PhaseSpec]) -> Checked {
    let conflict = |name: &str, key: &str, message: String, accepted: String| {
        let mut error = source.error_at(table, &["window", name, key], InputErrorKind::Conflict, message);
        error.accepted = vec![accepted];
        Err(error)
    };
    for (name, window) in &study.window {
        let from = window.from;
        if window.to.is_some_and(|to| to <= from) {
            return conflict(name, "to", "the window ends before it begins".into(), format!("more than {from}"));
        }
        let (interval, length) = (study.run.interval, window.to.map(|to| Time(to.0 - from.0)));
        if let Some(length) = length.filter(|&length| length < interval) {
            let message = format!("no interval of {interval} (`run.interval`) fits into this window of {length}");
            let accepted = format!("{} or more, or a `run.interval` of {length} or less", Time(from.0 + interval.0));
            return conflict(name, "to", message, accepted);
        }
        let of = phases.iter().filter(|phase| window.phase.as_ref().is_none_or(|named| *named == phase.name));
        // A phase that does not end by time has no known end.
        let ends: Option<Vec<Time>> = of.map(|phase| phase.until.time).collect();
        let Some(last) = ends.and_then(|ends| ends.into_iter().max()).filter(|&last| last <= from) else { continue };
        let message = match &window.phase {
            Some(phase) => format!("phase `{phase}` ends after {last}, before this window"),
            None => format!("each phase ends after {last} at most, before this window"),
        };
        return conflict(name, "from", message, format!("less than {last}"));
    }
    Ok(())
}
