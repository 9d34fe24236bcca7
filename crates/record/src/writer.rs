//! Writer of the files that the load of a run appends to: `events.jsonl`, `series/load.csv`,
//! `histograms/load.hlog`.
//!
//! Each call ends in a flush to the kernel, so that a kill loses at most the current interval.

use crate::control::{Control, Progress, StreamProgress};
use crate::interval::{IntervalStats, PART_WORDS, Part};
use crate::journal::Journal;
use crate::ledger::{Ledger, Slow};
use crate::merge::Merger;
use crate::operation::OPERATION_WORDS;
use crate::tally::Tally;
use crate::usage::Usage;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tameshi_base::Nanos;
use thiserror::Error;

/// First line of each series.
const HEADER: &[u8] = b"t_ns,dt_ns,subject,metric,value\n";

/// The record could not be written.
#[derive(Debug, Error)]
#[error("cannot write the run's record: {0}")]
pub struct RecordError(#[from] std::io::Error);

/// Reason of a phase's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// Its time had passed.
    Time,
    /// It had moved its amount.
    Amount,
    /// It had reached steady state.
    Steady,
    /// It had run the most rounds without steady state.
    Rounds,
    /// A stop was requested.
    Stopped,
}

impl EndedBy {
    fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Amount => "amount",
            Self::Steady => "steady",
            Self::Rounds => "rounds",
            Self::Stopped => "stopped",
        }
    }
}

/// Final state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// All phases ran to their end.
    Complete,
    /// Stopped early.
    Partial,
}

impl RunStatus {
    /// Name in events and outcomes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
        }
    }
}

/// Writer of the load's part of a run folder; also shows progress.
pub struct Writer {
    folder: PathBuf,
    events: File,
    series: File,
    histograms: File,
    streams: Vec<String>,
    merger: Merger,
    /// Ledger per stream and part of the current phase.
    ledgers: BTreeMap<(u16, Part), Ledger>,
    /// Slowest operation per stream of the run so far.
    slowest: BTreeMap<String, Slow>,
    control: Arc<Control>,
    /// `series/server.csv`, once a simulated server has data.
    server: Option<File>,
    bytes_written: u64,
    /// Shift added to all given times.
    shift_ns: i64,
    text: String,
    lines: Vec<u8>,
    serializer: V2DeflateSerializer,
}

impl Writer {
    /// Open the files in the existing `folder` for appending; its sub-folders `series` and
    /// `histograms` exist.
    ///
    /// # Errors
    /// A file can't be opened or written.
    pub fn open(folder: &Path, control: Arc<Control>) -> Result<Self, RecordError> {
        let append = |name: &str| OpenOptions::new().append(true).create(true).open(folder.join(name));
        let mut series = append("series/load.csv")?;
        if series.metadata()?.len() == 0 {
            series.write_all(HEADER)?;
        }
        Ok(Self {
            folder: folder.to_path_buf(),
            events: append("events.jsonl")?,
            series,
            histograms: append("histograms/load.hlog")?,
            streams: Vec::new(),
            merger: Merger::default(),
            ledgers: BTreeMap::new(),
            slowest: BTreeMap::new(),
            control,
            server: None,
            bytes_written: 0,
            shift_ns: 0,
            text: String::new(),
            lines: Vec::new(),
            serializer: V2DeflateSerializer::new(),
        })
    }

    /// Stop request and progress display.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Shift all later times by `shift_ns`: a simulation has skipped time.
    pub fn set_shift(&mut self, shift_ns: i64) {
        self.shift_ns = shift_ns;
    }

    /// Shift of given times.
    pub fn shift_ns(&self) -> i64 {
        self.shift_ns
    }

    fn shifted(&self, t: Nanos) -> Nanos {
        t.saturating_add_signed(self.shift_ns)
    }

    /// Create the journal of `storage`, a storage of `storage_bytes`, next to the other files.
    ///
    /// # Errors
    /// It can't be created, or exists.
    pub fn journal(&self, storage: &str, storage_bytes: u64, generation: u64) -> Result<Journal, RecordError> {
        Ok(Journal::create(&self.folder.join(format!("{storage}.journal")), storage_bytes, generation)?)
    }

    /// Append one event of the load.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn event(&mut self, t: Nanos, kind: &str, fields: Value) -> Result<(), RecordError> {
        let mut event = json!({ "t_ns": self.shifted(t), "source": "load", "kind": kind });
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        Ok(self.events.write_all(format!("{event}\n").as_bytes())?)
    }

    /// Begin a phase; `streams` are the names of its streams and their numbers of jobs.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn phase_begin(&mut self, t: Nanos, phase: u32, streams: &[(&str, u32)]) -> Result<(), RecordError> {
        self.streams = streams.iter().map(|(name, _)| (*name).to_string()).collect();
        self.merger.begin(streams.iter().map(|(_, jobs)| *jobs).collect());
        self.ledgers.clear();
        self.control.begin_phase(self.shifted(t), phase, streams.iter().map(|(name, _)| *name));
        self.event(t, "phase_begin", json!({ "phase": phase }))
    }

    /// Record the end of a phase's ramp.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn phase_ramped(&mut self, t: Nanos, phase: u32) -> Result<(), RecordError> {
        self.event(t, "phase_ramped", json!({ "phase": phase }))
    }

    /// End a phase: write intervals of jobs that ended early, and each stream's ledger.
    ///
    /// # Errors
    /// A file can't be written.
    pub fn phase_end(&mut self, t: Nanos, phase: u32, ended_by: EndedBy) -> Result<(), RecordError> {
        for stats in self.merger.drain() {
            self.write(&stats)?;
        }
        for ((stream, part), ledger) in std::mem::take(&mut self.ledgers) {
            let mut fields =
                json!({ "phase": phase, "stream": self.streams[usize::from(stream)], "part": part.to_string() });
            if let (Value::Object(fields), Value::Object(ledger)) = (&mut fields, ledger.as_json()) {
                fields.extend(ledger);
            }
            self.event(t, "stream_end", fields)?;
        }
        self.event(t, "phase_end", json!({ "phase": phase, "ended_by": ended_by.word() }))
    }

    /// Record the end of a round of the phase or repetition `of`: its values, and the verdict on
    /// its window if that decided anything.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn round(
        &mut self,
        t: Nanos,
        of: (&str, u32),
        number: u32,
        values: Value,
        steady: Option<Value>,
    ) -> Result<(), RecordError> {
        self.event(t, "round", json!({ of.0: of.1, "round": number, "values": values }))?;
        steady.map_or(Ok(()), |steady| self.event(t, "steady", json!({ of.0: of.1, "steady": steady })))
    }

    /// Record one job's interval.
    ///
    /// # Errors
    /// A file can't be written.
    pub fn interval(&mut self, stats: &IntervalStats) -> Result<(), RecordError> {
        match self.merger.add(stats) {
            Some(whole) => self.write(&whole),
            None => Ok(()),
        }
    }

    /// Record the utilisation of resources from `begin` to `end`; `before` and `after` are the
    /// states then.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn usage(
        &mut self,
        (begin, end): (Nanos, Nanos),
        subject: &str,
        before: &Usage,
        after: &Usage,
    ) -> Result<(), RecordError> {
        use std::fmt::Write as _;
        self.text.clear();
        let (length, end) = (end.saturating_sub(begin), self.shifted(end));
        for (word, busy, capacity) in after.since(before, length) {
            for (name, value) in [("busy", busy), ("capacity", capacity)] {
                writeln!(self.text, "{end},{length},{subject},{name}.{word}_ns,{value}")
                    .expect("a string takes any text");
            }
        }
        Ok(self.series.write_all(self.text.as_bytes())?)
    }

    /// Record further counts of one subject from `begin` to `end`, by metric.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn counters(
        &mut self,
        (begin, end): (Nanos, Nanos),
        subject: &str,
        rows: &[(&str, u64)],
    ) -> Result<(), RecordError> {
        use std::fmt::Write as _;
        self.text.clear();
        let (length, end) = (end.saturating_sub(begin), self.shifted(end));
        for (metric, value) in rows {
            writeln!(self.text, "{end},{length},{subject},{metric},{value}").expect("a string takes any text");
        }
        Ok(self.series.write_all(self.text.as_bytes())?)
    }

    /// Record counts of a simulated server from `begin` to `end`, by metric; a real one's sampler
    /// writes the same file.
    ///
    /// # Errors
    /// The file can't be opened or written.
    pub fn server(&mut self, (begin, end): (Nanos, Nanos), rows: &[(&str, f64)]) -> Result<(), RecordError> {
        use std::fmt::Write as _;
        let (length, end) = (end.saturating_sub(begin), self.shifted(end));
        let file = match &mut self.server {
            Some(file) => file,
            none => {
                let path = self.folder.join("series/server.csv");
                let mut file = OpenOptions::new().append(true).create(true).open(path)?;
                file.write_all(HEADER)?;
                none.insert(file)
            }
        };
        self.text.clear();
        for (metric, value) in rows {
            writeln!(self.text, "{end},{length},server,{metric},{value}").expect("a string takes any text");
        }
        Ok(file.write_all(self.text.as_bytes())?)
    }

    fn write(&mut self, stats: &IntervalStats) -> Result<(), RecordError> {
        self.write_series(stats)?;
        self.write_histograms(stats)?;
        // A commit is a write and a sync, which were counted already.
        let counted = stats.operations.iter().zip(OPERATION_WORDS).filter(|(_, word)| *word != "commit");
        let (count, sum) = counted.fold((0, 0), |(n, s), (op, _)| (n + op.count, s + op.latency_ns_sum));
        let length = stats.end.saturating_sub(stats.begin);
        self.bytes_written += stats.operations[1].bytes;
        self.control.moved(stats.operations.iter().map(|op| op.bytes).sum());
        self.control.show(Progress {
            elapsed_ns: self.shifted(stats.end),
            phase: u64::from(stats.phase),
            operations_per_second: (count * 1_000_000_000).checked_div(length).unwrap_or(0),
            latency_ns_mean: sum.checked_div(count).unwrap_or(0),
            bytes_written: self.bytes_written,
        });
        self.ledgers.entry((stats.stream, stats.part)).or_default().merge(&stats.ledger);
        let slowest = self.slowest(stats);
        self.control.show_stream(usize::from(stats.stream), |shown| show_stream(shown, stats, slowest));
        Ok(())
    }

    /// Slowest operation of an interval's stream in the run so far.
    fn slowest(&mut self, stats: &IntervalStats) -> Option<Slow> {
        let (name, found) = (&self.streams[usize::from(stats.stream)], stats.ledger.slowest.list().first());
        let known = self.slowest.get(name).copied();
        match found {
            Some(&slow) if known.is_none_or(|known| slow.latency > known.latency) => {
                self.slowest.insert(name.clone(), slow);
                self.control.see(name, slow);
                Some(slow)
            }
            _ => known,
        }
    }

    fn write_series(&mut self, stats: &IntervalStats) -> Result<(), RecordError> {
        use std::fmt::Write as _;
        self.text.clear();
        let (end, length) = (self.shifted(stats.end), stats.end.saturating_sub(stats.begin));
        let subject = &self.streams[stats.stream as usize];
        let mut row = |metric: &str, suffix: &str, value: u64| {
            writeln!(self.text, "{end},{length},{subject},{metric}{suffix},{value}").expect("a string takes any text");
        };
        for (word, op) in OPERATION_WORDS.iter().zip(&stats.operations) {
            if op.count > 0 {
                row(word, ".count", op.count);
                row(word, ".latency_sum", op.latency_ns_sum);
                if op.bytes > 0 {
                    row(word, ".bytes", op.bytes);
                }
            }
        }
        row("load", ".late", stats.late);
        row("load", ".unserved", stats.unserved);
        if stats.failed > 0 {
            row("load", ".failed", stats.failed);
        }
        if stats.generator_cpu_ns > 0 {
            row("load", ".cpu_ns", stats.generator_cpu_ns);
        }
        for (name, value) in [
            (".service_ns_sum", stats.service_ns_sum),
            (".in_flight_ns", stats.in_flight_ns),
            (".waiting_ns", stats.waiting_ns),
        ] {
            if value > 0 {
                row("load", name, value);
            }
        }
        for (word, &ns) in PART_WORDS.iter().zip(&stats.parts_ns).filter(|(_, ns)| **ns > 0) {
            row("time.", &format!("{word}_ns_sum"), ns);
        }
        for (spent, count, sum, max) in [
            (stats.slip.spent, ".started", ".slip_ns_sum", ".slip_ns_max"),
            (stats.lag.spent, "", ".lag_ns_sum", ".lag_ns_max"),
            (stats.reap, ".reaps", ".reap_ns_sum", ".reap_ns_max"),
        ] {
            let rows = [(count, spent.count), (sum, spent.ns_sum), (max, spent.ns_max)];
            let rows = rows.iter().filter(|(name, _)| spent.count > 0 && !name.is_empty());
            rows.for_each(|&(name, value)| row("load", name, value));
        }
        Ok(self.series.write_all(self.text.as_bytes())?)
    }

    fn write_histograms(&mut self, stats: &IntervalStats) -> Result<(), RecordError> {
        self.lines.clear();
        let (begin, length) = (
            Duration::from_nanos(self.shifted(stats.begin)),
            Duration::from_nanos(stats.end.saturating_sub(stats.begin)),
        );
        let mut log: IntervalLogWriter<'_, '_, Vec<u8>, V2DeflateSerializer> =
            IntervalLogWriterBuilder::new().begin_log_with(&mut self.lines, &mut self.serializer)?;
        let operations = OPERATION_WORDS.iter().zip(&stats.operations).map(|(&word, op)| (word, op.count, &op.latency));
        let lateness =
            [("slip", &stats.slip), ("lag", &stats.lag)].map(|(word, late)| (word, late.spent.count, &late.tally));
        let (phase, part, stream) = (stats.phase, stats.part, &self.streams[stats.stream as usize]);
        for (word, count, tally) in operations.chain(lateness) {
            if count > 0 {
                let tag = format!("{phase}/{part}/{stream}/{word}");
                let tag = Tag::new(&tag).expect("names hold no comma and no space");
                log.write_histogram(&tally.histogram(), begin, length, Some(tag)).map_err(std::io::Error::other)?;
            }
        }
        Ok(self.histograms.write_all(&self.lines)?)
    }
}

/// Show the work of a stream in an interval.
fn show_stream(shown: &mut StreamProgress, stats: &IntervalStats, slowest: Option<Slow>) {
    let length = stats.end.saturating_sub(stats.begin);
    let per_second = |sum: u64| (u128::from(sum) * 1_000_000_000).checked_div(u128::from(length)).unwrap_or(0) as u64;
    let operations = || stats.operations[..3].iter().filter(|op| op.count > 0);
    shown.operations_per_second = per_second(operations().map(|op| op.count).sum());
    shown.bytes_per_second = per_second(operations().map(|op| op.bytes).sum());
    shown.slowest = slowest;
    let mut latencies = Tally::default();
    operations().for_each(|op| latencies.add(&op.latency));
    let latencies = latencies.histogram();
    let quantiles = [0.5, 0.99, 0.999].map(|quantile| latencies.value_at_quantile(quantile));
    [shown.p50_ns, shown.p99_ns, shown.p999_ns] = quantiles;
}
