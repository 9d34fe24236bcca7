//! Checks of published figures: the cells, phases, metrics, subjects and windows that they name
//! exist.

use crate::errors::unknown_name;
use crate::plan::search::is_estimated;
use crate::study::summary::Summary;
use crate::study::{Derived, Published};
use crate::toml::document::{Source, Table};
use crate::validate::names::Names;
use tameshi_base::InputError;
use tameshi_base::metrics::METRICS;

type Checked = Result<(), InputError>;

/// Metrics of reads and writes together, which no registry has.
pub(crate) const TOGETHER: [&str; 3] = ["all.iops", "all.bandwidth", "all.latency.mean"];
/// The window of a phase with its ramp.
const WHOLE: &str = "all";

/// Every figure of the study's; the quick part may leave out some of those that are written.
pub(crate) fn check(
    source: Source<'_>,
    table: &Table<'_>,
    written: &[Published],
    study: &Summary,
    names: &Names,
) -> Checked {
    let (phases, subjects) = (names.phases(), names.subjects());
    let windows = study.windows.keys().chain(&phases).cloned().chain([WHOLE.to_string()]).collect();
    for (index, figure) in written.iter().enumerate().filter(|(_, figure)| study.published.contains(figure)) {
        let index = index.to_string();
        let unknown = |path: &[&str], what: &str, found: &str, accepted: Vec<String>| {
            let path = [&["published", index.as_str()], path].concat();
            unknown_name(source, table, &path, what, found, accepted)
        };
        axes(study, figure, unknown)?;
        for (key, named, known) in [
            ("phase", &figure.phase, &phases),
            ("subject", &figure.subject, &subjects),
            ("window", &figure.window, &windows),
        ] {
            if let Some(name) = named.as_ref().filter(|name| !known.contains(name)) {
                return Err(unknown(&[key], &format!("{key} (of figure {})", figure.id), name, known.clone()));
            }
        }
        metrics(figure, unknown)?;
    }
    Ok(())
}

/// Figures are of levels that the study has.
fn axes(
    study: &Summary,
    figure: &Published,
    unknown: impl Fn(&[&str], &str, &str, Vec<String>) -> InputError,
) -> Checked {
    let of = |name: &String| study.axes.iter().find(|known| known.name == *name);
    let names = || study.axes.iter().map(|known| known.name.clone()).collect();
    for (axis, level) in &figure.cell {
        let path = ["cell", axis];
        let Some(known) = of(axis) else {
            return Err(unknown(&path, &format!("axis (of figure {})", figure.id), axis, names()));
        };
        if !known.levels.contains(&level.0) {
            let what = format!("level of axis `{axis}` (of figure {})", figure.id);
            return Err(unknown(&path, &what, &level.0, known.levels.clone()));
        }
    }
    match axes_of(figure).into_iter().find(|(_, axis)| of(axis).is_none()) {
        Some((key, axis)) => {
            Err(unknown(&["derived"], &format!("axis (`{key}` of figure {})", figure.id), &axis, names()))
        }
        None => Ok(()),
    }
}

/// The axes that a figure of several cells names, by key.
fn axes_of(figure: &Published) -> Vec<(&'static str, String)> {
    match &figure.derived {
        None | Some(Derived::Most | Derived::RampIncluded) => vec![],
        Some(Derived::MoreThan { cell } | Derived::RatioTo { cell } | Derived::GainOver { cell }) => {
            cell.keys().map(|axis| ("cell", axis.clone())).collect()
        }
        Some(Derived::SameUpTo { axis, whatever, .. } | Derived::ApartFrom { axis, whatever, .. }) => {
            vec![("axis", axis.clone()), ("whatever", whatever.clone())]
        }
    }
}

/// A figure's metrics are of the registry, or any percentile of a latency. Only whole ones are
/// divided by one another.
fn metrics(figure: &Published, unknown: impl Fn(&[&str], &str, &str, Vec<String>) -> InputError) -> Checked {
    let (what, together) =
        if figure.per.is_none() { ("metric", &TOGETHER[..]) } else { ("metric for a division", &[][..]) };
    let known: Vec<String> =
        METRICS.iter().map(|metric| metric.name).chain(together.iter().copied()).map(str::to_string).collect();
    for (key, metric) in [("metric", Some(&figure.metric)), ("per", figure.per.as_ref())] {
        if let Some(metric) = metric.filter(|metric| !known.contains(metric) && !is_percentile(metric)) {
            let error = unknown(&[key], &format!("{what} (of figure {})", figure.id), metric, known.clone());
            let accepted = ["those of docs/reference/metrics.md"].iter().chain(together).map(|name| name.to_string());
            return Err(InputError { accepted: accepted.collect(), ..error });
        }
    }
    Ok(())
}

/// Return whether there is a metric of this name, reads and writes together and percentiles
/// included.
pub(crate) fn is_metric(name: &str) -> bool {
    METRICS.iter().any(|metric| metric.name == name) || TOGETHER.contains(&name) || is_percentile(name)
}

/// Return whether a metric is a percentile of a latency of the registry: `transaction.latency.p95`.
fn is_percentile(metric: &str) -> bool {
    let Some((latency, statistic)) = metric.rsplit_once('.') else { return false };
    let usual = format!("{latency}.p99");
    latency.ends_with(".latency") && is_estimated(statistic) && METRICS.iter().any(|metric| metric.name == usual)
}
