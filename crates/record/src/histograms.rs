//! Reads interval logs back: latency statistics per tag, over all its intervals.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;

/// The quantiles that a summary lists: a curve, dense towards the tail.
pub const QUANTILES: [f64; 20] = [
    0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999,
    1.0,
];

/// Latencies of one tag; nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latencies {
    /// Operations.
    pub count: u64,
    /// Shortest.
    pub min: u64,
    /// Longest.
    pub max: u64,
    /// Mean, to the histogram's three digits.
    pub mean: f64,
    /// Standard deviation.
    pub standard_deviation: f64,
    /// `[quantile, latency]` of [`QUANTILES`].
    pub quantiles: Vec<(f64, u64)>,
    /// By quantile of [`ESTIMATED`]: what each interval adds to it.
    pub intervals: BTreeMap<String, Shares>,
    /// `[share of operations, latency]` of every value that occurs.
    pub curve: Vec<(f64, u64)>,
}

/// The quantiles that statistics put an interval around within one run.
pub const ESTIMATED: [f64; 3] = [0.5, 0.99, 0.999];

/// Operations of each interval, and how many of them took no longer than the quantile over all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Shares {
    /// Operations that took no longer.
    pub below: Vec<u64>,
    /// Operations.
    pub counts: Vec<u64>,
}

/// A log that can't be read.
#[derive(Debug, Error)]
#[error("the interval log holds something that is no histogram: {0}")]
pub struct LogError(String);

/// First and last round that count, by phase.
pub type Windows = BTreeMap<u32, (u32, u32)>;

/// Latencies of each tag; a last line that a kill cut short is left out.
///
/// Of a phase in rounds, those of the rounds that `windows` names become its part `steady`; all others are left out.
///
/// # Errors
/// When a whole line is no histogram.
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
    // A second reading: the histograms of a long run together would not fit into memory.
    each_interval(log, &mut |tag, histogram| {
        let (all, told) = (&merged[tag], found.get_mut(tag).expect("both are made of the same tags"));
        for quantile in ESTIMATED {
            let shares = told.intervals.entry(quantile.to_string()).or_default();
            shares.below.push(histogram.count_between(0, all.value_at_quantile(quantile)));
            shares.counts.push(histogram.len());
        }
        Ok(())
    })?;
    Ok(found)
}

/// One histogram of a log, as counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// `PHASE/PART/STREAM/OPERATION`.
    pub tag: String,
    /// Begin, from t0.
    pub begin_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// `[least value that the bucket holds, operations]` of each bucket that is not empty, in order. A bucket is no wider
    /// than a 1024th of its values, and its bounds are multiples of its width, a power of two.
    pub counts: Vec<(u64, u64)>,
}

/// Every histogram of a log, in the log's order; a last line that a kill cut short is left out.
///
/// # Errors
/// When a whole line is no histogram.
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

/// The tag that an interval counts under; none when it lies outside its phase's window.
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
