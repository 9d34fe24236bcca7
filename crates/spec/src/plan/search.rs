//! The runs of a search: one in closed loop, then one at each rate that the finished runs lead to.

use crate::errors::{bad_value, unknown_name};
use crate::run::{PhaseSpec, RunSpec};
use crate::study::summary::{AxisSummary, Summary};
use crate::study::{Search, Spacing, Study, Varies};
use crate::toml::document::{Source, Table};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::{InputError, InputErrorKind, Rate};
use tameshi_workload::Arrivals;

/// Name of the axis that rates are levels of.
pub const RATE_AXIS: &str = "rate";
/// Name of the phase that finds the closed-loop maximum.
pub const MAXIMUM_PHASE: &str = "maximum";

/// Rates to run a cell at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellRates {
    /// The level of each axis across runs.
    pub cell: IndexMap<String, String>,
    /// Requests per second.
    pub rates: Vec<Rate>,
}

/// A search names a stream that one phase runs, and a latency.
pub(crate) fn check(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    run: &RunSpec,
    summary: &Summary,
) -> Result<(), InputError> {
    let Some(search) = &study.search else { return Ok(()) };
    if !summary.unknown.is_empty() {
        let message = "a search finds the rate at known settings only: make the unknown ones an axis";
        return Err(source.error_at(table, &["search"], InputErrorKind::Conflict, message));
    }
    if summary.axes.iter().any(|axis| axis.name == RATE_AXIS) {
        let message = "a search varies the rate itself: no axis can have this name beside it";
        return Err(source.error_at(table, &["search"], InputErrorKind::Conflict, message));
    }
    if !study.workload.stream.contains_key(&search.stream) {
        let streams = study.workload.stream.keys().cloned().collect();
        return Err(unknown_name(source, table, &["search", "stream"], "stream", &search.stream, streams));
    }
    let runs_it = |phase: &&PhaseSpec| phase.streams.iter().any(|stream| stream.name == search.stream);
    let phases = run.phases.iter().filter(runs_it).count();
    if phases != 1 {
        let message = format!("{phases} phases run this stream, and a search is about one");
        return Err(bad_value(source, table, &["search", "stream"], message, "a stream that one phase runs"));
    }
    if let Some(limit) = &search.limit {
        let parts: Vec<&str> = limit.metric.split('.').collect();
        let known = match parts[..] {
            ["read" | "write" | "sync" | "commit", "latency", statistic] => is_estimated(statistic),
            _ => false,
        };
        if !known {
            let accepted = "OPERATION.latency.STATISTIC, such as read.latency.p999";
            let message = "a limit needs a latency that is estimated";
            return Err(bad_value(source, table, &["search", "limit", "metric"], message, accepted));
        }
        if limit.below.0 == 0 {
            return Err(bad_value(
                source,
                table,
                &["search", "limit", "below"],
                "nothing is faster",
                "a time above zero",
            ));
        }
    }
    if search.shares.is_empty() || search.shares.iter().any(|share| share.0 == 0) {
        return Err(bad_value(source, table, &["search", "shares"], "no rate follows", "shares above 0 %"));
    }
    Ok(())
}

/// A mean, a maximum, or a percentile by its name: two digits and decimals, `p05`,
/// `p99`, `p999`.
pub(crate) fn is_estimated(statistic: &str) -> bool {
    let percentile =
        |digits: &str| (2..=6).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    matches!(statistic, "mean" | "max") || statistic.strip_prefix('p').is_some_and(percentile)
}

/// The runs of one cell of a search.
pub(crate) fn runs_of(search: &Search, run: &RunSpec, rates: &[CellRates]) -> Vec<RunSpec> {
    let rates = rates.iter().find(|of| of.cell == run.cell).map_or(&[][..], |of| &of.rates[..]);
    let at = |arrivals: &Arrivals, phase_name: Option<&str>, label: Option<String>| {
        let mut run = run.clone();
        for phase in &mut run.phases {
            let Some(stream) = phase.streams.iter_mut().find(|stream| stream.name == search.stream) else { continue };
            stream.stream.arrivals = arrivals.clone();
            if let Some(name) = phase_name {
                phase.name = name.to_string();
            }
        }
        run.cell.extend(label.map(|label| (RATE_AXIS.to_string(), label)));
        run
    };
    let maximum = at(&Arrivals::Closed, Some(MAXIMUM_PHASE), None);
    let spaced = |rate| match search.arrivals {
        Spacing::Constant => Arrivals::Constant { rate },
        Spacing::Poisson => Arrivals::Poisson { rate },
    };
    std::iter::once(maximum).chain(rates.iter().map(|&rate| at(&spaced(rate), None, Some(label(rate))))).collect()
}

/// The axis of all rates, ascending.
pub(crate) fn axis(rates: &[CellRates]) -> Option<AxisSummary> {
    let mut all: Vec<Rate> = rates.iter().flat_map(|of| of.rates.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let levels: Vec<String> = all.into_iter().map(label).collect();
    (!levels.is_empty()).then(|| AxisSummary { name: RATE_AXIS.into(), varies: Varies::Across, levels })
}

/// A rate as a level: its number per second.
fn label(rate: Rate) -> String {
    rate.per_second().to_string()
}
