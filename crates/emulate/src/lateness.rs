//! Latencies modelled and met, and lateness, per operation.

use hdrhistogram::Histogram;
use serde_json::{Value, json};
use tameshi_base::{CommandKind, Nanos};

/// Operations in the order of the record.
const KINDS: [(CommandKind, &str); 4] = [
    (CommandKind::Read, "read"),
    (CommandKind::Write, "write"),
    (CommandKind::Flush, "flush"),
    (CommandKind::Trim, "trim"),
];
/// Longest time that a histogram tells apart.
const LONGEST: Nanos = 100_000_000_000;

/// Figures of one operation.
#[derive(Debug)]
struct Operation {
    /// Latency of the model.
    modelled: Histogram<u64>,
    /// Time from arrival to dispatch, with the offset of the path.
    met: Histogram<u64>,
    /// Time from the due time, or a later arrival, to the dispatch.
    late: Histogram<u64>,
    bytes: u64,
    /// Answers whose modelled latency is shorter than the path's offset, and the missing time.
    short: u64,
    short_ns: u64,
}

/// Figures of all operations.
#[derive(Debug)]
pub(crate) struct Lateness(Vec<Operation>);

impl Lateness {
    pub(crate) fn new() -> Result<Self, String> {
        let histogram = || Histogram::new_with_bounds(1, LONGEST, 3).map_err(|error| error.to_string());
        let operation = |_| {
            let [modelled, met, late] = [histogram()?, histogram()?, histogram()?];
            Ok(Operation { modelled, met, late, bytes: 0, short: 0, short_ns: 0 })
        };
        KINDS.iter().map(operation).collect::<Result<_, String>>().map(Self)
    }

    /// Count an answer: its arrival, its due time by the model, and the real time of its dispatch.
    /// `offset` is the time that the path adds.
    #[inline]
    pub(crate) fn count(
        &mut self,
        kind: CommandKind,
        bytes: u32,
        (arrived, due, now): (Nanos, Nanos, Nanos),
        offset: Nanos,
    ) {
        let place = match kind {
            CommandKind::Read => 0,
            CommandKind::Write => 1,
            CommandKind::Flush => 2,
            CommandKind::Trim => 3,
        };
        let of = &mut self.0[place];
        let modelled = due.saturating_sub(arrived);
        of.modelled.saturating_record(modelled);
        of.met.saturating_record(now.saturating_sub(arrived) + offset);
        of.late.saturating_record(now.saturating_sub(due.saturating_sub(offset).max(arrived)));
        of.bytes += u64::from(bytes);
        if modelled < offset {
            of.short += 1;
            of.short_ns += offset - modelled;
        }
    }

    /// Forget all counts.
    pub(crate) fn reset(&mut self) {
        for of in &mut self.0 {
            [&mut of.modelled, &mut of.met, &mut of.late].into_iter().for_each(Histogram::reset);
            (of.bytes, of.short, of.short_ns) = (0, 0, 0);
        }
    }

    /// Return the counts and percentiles in nanoseconds, by operation.
    pub(crate) fn as_json(&self) -> Value {
        let summary = |of: &Histogram<u64>| {
            let at = |quantile| of.value_at_quantile(quantile);
            json!({ "mean": of.mean(), "p50": at(0.5), "p99": at(0.99), "p999": at(0.999), "max": of.max() })
        };
        let named = KINDS.iter().zip(&self.0).map(|((_, name), of)| {
            let figures = json!({
                "operations": of.modelled.len(), "bytes": of.bytes, "short": of.short, "short_ns": of.short_ns,
                "modelled_ns": summary(&of.modelled), "met_ns": summary(&of.met), "late_ns": summary(&of.late),
            });
            ((*name).to_string(), figures)
        });
        Value::Object(named.collect())
    }
}
