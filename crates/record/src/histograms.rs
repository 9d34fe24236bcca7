//! Reads interval logs back: latency statistics per tag, over all its intervals.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde::Serialize;
use std::collections::BTreeMap;
use thiserror::Error;

/// The quantiles that a summary lists: a curve, dense towards the tail.
pub const QUANTILES: [f64; 19] =
    [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0];

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
}

/// A log that can't be read.
#[derive(Debug, Error)]
#[error("the interval log holds something that is no histogram: {0}")]
pub struct LogError(String);

/// Latencies of each tag; a last line that a kill cut short is left out.
///
/// # Errors
/// When a whole line is no histogram.
pub fn summarise(log: &str) -> Result<BTreeMap<String, Latencies>, LogError> {
    let whole = log.rfind('\n').map_or("", |end| &log[..=end]);
    let mut merged: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(whole.as_bytes()) {
        let LogEntry::Interval(interval) = entry.map_err(|error| LogError(format!("{error:?}")))? else { continue };
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(interval.encoded_histogram())
            .map_err(|error| LogError(error.to_string()))?;
        let histogram: Histogram<u64> =
            deserializer.deserialize(&mut bytes.as_slice()).map_err(|error| LogError(error.to_string()))?;
        let tag = interval.tag().map(|tag| tag.as_str().to_string()).unwrap_or_default();
        match merged.get_mut(&tag) {
            Some(all) => all.add(&histogram).map_err(|error| LogError(error.to_string()))?,
            None => {
                let mut all = Histogram::new(histogram.sigfig()).map_err(|error| LogError(error.to_string()))?;
                all.add(&histogram).map_err(|error| LogError(error.to_string()))?;
                merged.insert(tag, all);
            }
        }
    }
    Ok(merged.into_iter().map(|(tag, histogram)| (tag, latencies(&histogram))).collect())
}

fn latencies(histogram: &Histogram<u64>) -> Latencies {
    Latencies {
        count: histogram.len(),
        min: histogram.min(),
        max: histogram.max(),
        mean: histogram.mean(),
        standard_deviation: histogram.stdev(),
        quantiles: QUANTILES.iter().map(|&q| (q, histogram.value_at_quantile(q))).collect(),
    }
}
