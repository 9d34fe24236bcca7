//! Reader of interval logs: latency statistics per tag, over all its intervals.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;

/// Quantiles of a summary: a curve, dense towards the tail.
pub const QUANTILES: [f64; 20] = [
    0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999,
    1.0,
];

/// Latencies of one tag in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latencies {
    /// Number of operations.
    pub count: u64,
    /// Shortest latency.
    pub min: u64,
    /// Longest latency.
    pub max: u64,
    /// Mean, to the histogram's three digits.
    pub mean: f64,
    /// Standard deviation.
    pub standard_deviation: f64,
    /// `[quantile, latency]` of [`QUANTILES`].
    pub quantiles: Vec<(f64, u64)>,
    /// Per quantile of [`ESTIMATED`]: contribution of each interval.
    pub intervals: BTreeMap<String, Shares>,
    /// `[share of operations, latency]` of every latency that occurs.
    pub curve: Vec<(f64, u64)>,
}

/// Quantiles with a confidence interval within one run.
pub const ESTIMATED: [f64; 3] = [0.5, 0.99, 0.999];

/// Operations per interval, and those not above the quantile over all intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Shares {
    /// Operations not above the quantile.
    pub below: Vec<u64>,
    /// All operations.
    pub counts: Vec<u64>,
}

/// Unreadable log.
#[derive(Debug, Error)]
#[error("the interval log holds something that is no histogram: {0}")]
pub struct LogError(String);

/// First and last round to count, per phase.
pub type Windows = BTreeMap<u32, (u32, u32)>;

/// Summarise the latencies of each tag; a last line torn by a kill is left out.
///
/// In a phase with rounds, the rounds in `windows` become its part `steady`; all others are left
/// out.
///
/// # Errors
/// A whole line is no histogram.
pub fn summarise(log: &str, windows: &Windows) -> Result<BTreeMap<String, Latencies>, LogError> {
    let mut merged: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    let each_interval = |log: &str, take: Take<'_>| {
        each_interval(log, |(tag, ..), histogram| windowed(tag, windows).map_or(Ok(()), |tag| take(&tag, histogram)))
    };
    each_interval(log, &mut |tag, histogram| {
        match merged.get_mut(tag) {
            Some(all) => all.add(histogram).map_err(|error| LogError(error.to_string()))?,
            None => {
                let mut all = Histogram::new(histogram.sigfig()).map_err(|error| LogError(error.to_string()))?;
                all.add(histogram).map_err(|error| LogError(error.to_string()))?;
                merged.insert(tag.to_string(), all);
            }
        }
        Ok(())
    })?;
    let mut found: BTreeMap<String, Latencies> =
        merged.iter().map(|(tag, histogram)| (tag.clone(), latencies(histogram))).collect();
    // Second pass over the log: the histograms of a long run would not fit into memory together.
    each_interval(log, &mut |tag, histogram| {
        let (all, summary) = (&merged[tag], found.get_mut(tag).expect("both are made of the same tags"));
        for quantile in ESTIMATED {
            let shares = summary.intervals.entry(quantile.to_string()).or_default();
            shares.below.push(histogram.count_between(0, all.value_at_quantile(quantile)));
            shares.counts.push(histogram.len());
        }
        Ok(())
    })?;
    Ok(found)
}

/// Histogram of a log, as counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// `PHASE/PART/STREAM/OPERATION`.
    pub tag: String,
    /// Start, from t0.
    pub begin_ns: u64,
    /// Length of the interval.
    pub length_ns: u64,
    /// `[least value of the bucket, operations]` of each non-empty bucket, in order. A bucket is at
    /// most a 1024th of its values wide; its bounds are multiples of its width, a power of two.
    pub counts: Vec<(u64, u64)>,
}

/// Every histogram of a log, in its order; a last line torn by a kill is left out.
///
/// # Errors
/// A whole line is no histogram.
pub fn intervals(log: &str) -> Result<Vec<Interval>, LogError> {
    let mut found = Vec::new();
    each_interval(log, |(tag, begin, length), histogram| {
        let recorded = histogram.iter_recorded();
        let counts = recorded
            .map(|step| (histogram.lowest_equivalent(step.value_iterated_to()), step.count_since_last_iteration()));
        found.push(Interval {
            tag: tag.to_string(),
            begin_ns: begin.as_nanos() as u64,
            length_ns: length.as_nanos() as u64,
            counts: counts.collect(),
        });
        Ok(())
    })?;
    Ok(found)
}

type Take<'a> = &'a mut dyn FnMut(&str, &Histogram<u64>) -> Result<(), LogError>;

/// Tag that an interval counts under; `None` if it lies outside its phase's window.
fn windowed<'t>(tag: &'t str, windows: &Windows) -> Option<Cow<'t, str>> {
    let mut parts = tag.splitn(3, '/');
    let (phase, part, rest) = (parts.next()?, parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Some(round) = part.strip_prefix("round-") else { return Some(Cow::Borrowed(tag)) };
    let (first, last) = windows.get(&phase.parse().ok()?)?;
    let inside = (*first..=*last).contains(&round.parse().ok()?);
    inside.then(|| Cow::Owned(format!("{phase}/steady/{rest}")))
}

fn each_interval(
    log: &str,
    mut take: impl FnMut((&str, Duration, Duration), &Histogram<u64>) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let whole = log.rfind('\n').map_or("", |end| &log[..=end]);
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(whole.as_bytes()) {
        let LogEntry::Interval(interval) = entry.map_err(|error| LogError(format!("{error:?}")))? else { continue };
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(interval.encoded_histogram())
            .map_err(|error| LogError(error.to_string()))?;
        let histogram: Histogram<u64> =
            deserializer.deserialize(&mut bytes.as_slice()).map_err(|error| LogError(error.to_string()))?;
        let tag = interval.tag().map(|tag| tag.as_str().to_string()).unwrap_or_default();
        take((&tag, interval.start_timestamp(), interval.duration()), &histogram)?;
    }
    Ok(())
}

fn latencies(histogram: &Histogram<u64>) -> Latencies {
    Latencies {
        count: histogram.len(),
        min: histogram.min(),
        max: histogram.max(),
        mean: histogram.mean(),
        standard_deviation: histogram.stdev(),
        quantiles: QUANTILES.iter().map(|&q| (q, histogram.value_at_quantile(q))).collect(),
        intervals: BTreeMap::new(),
        curve: curve(histogram),
    }
}

fn curve(histogram: &Histogram<u64>) -> Vec<(f64, u64)> {
    let mut reached = 0;
    let recorded = histogram.iter_recorded().map(|step| {
        reached += step.count_since_last_iteration();
        (reached as f64 / histogram.len() as f64, step.value_iterated_to())
    });
    recorded.collect()
}
