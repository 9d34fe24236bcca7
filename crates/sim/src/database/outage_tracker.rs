//! Record of outages as clients see them, and of a server's events.

use serde_json::{Value, json};
use tameshi_base::{Nanos, Reason};
use tameshi_record::outage::{BUCKET, Gap, Outage};

/// Event for the record.
pub(crate) struct ServerEvent {
    pub(crate) at: Nanos,
    pub(crate) kind: &'static str,
    pub(crate) fields: Value,
}

/// Outages as clients see them, and events for the record.
#[derive(Default)]
pub(super) struct OutageTracker {
    /// Ends of the server that count for the verdict on its commits.
    ends: u32,
    /// Transactions that clients have completed.
    completed: u64,
    phase_begin: Nanos,
    /// Transactions completed in the phase, by [`BUCKET`].
    counts: Vec<u64>,
    gaps: Vec<Gap>,
    events: Vec<ServerEvent>,
}

impl OutageTracker {
    /// Begin a phase.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.phase_begin = now;
        self.counts.clear();
        self.gaps.clear();
    }

    /// A client's transaction is complete. One that completes during a shutdown does so on an
    /// older connection, and ends no outage.
    pub(super) fn complete(&mut self, now: Nanos, is_restarted: bool) {
        let bucket = ((now - self.phase_begin) / BUCKET) as usize;
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.completed += 1;
        if let Some(gap) = self.gaps.last_mut().filter(|gap| gap.success.is_none() && is_restarted) {
            gap.success = Some(now);
        }
    }

    /// Clients lose their connections.
    pub(super) fn open_gap(&mut self, now: Nanos) {
        if self.gaps.last().is_none_or(|gap| gap.success.is_some()) {
            self.gaps.push(Gap { error: now, success: None });
        }
    }

    /// The server has ended: the verdict compares its acknowledged commits with those that survive.
    pub(super) fn count_end(&mut self) {
        self.ends += 1;
    }

    /// Transactions that clients have completed.
    pub(super) fn completed(&self) -> u64 {
        self.completed
    }

    pub(super) fn has_ends(&self) -> bool {
        self.ends > 0
    }

    pub(super) fn push(&mut self, at: Nanos, kind: &'static str, fields: Value) {
        self.events.push(ServerEvent { at, kind, fields });
    }

    /// Record an event with further fields.
    pub(super) fn record(&mut self, at: Nanos, kind: &'static str, mut fields: Value, rest: Value) {
        if let (Some(fields), Value::Object(rest)) = (fields.as_object_mut(), rest) {
            fields.extend(rest);
        }
        self.push(at, kind, fields);
    }

    /// Record that an event found no server it could end.
    pub(super) fn miss(&mut self, now: Nanos, event: &str, why: Reason) {
        self.push(now, "missed", json!({ "event": event, "why": why }));
    }

    /// Record a finding that makes the run invalid.
    pub(super) fn find(&mut self, at: Nanos, reason: Reason) {
        self.push(at, "finding", json!({ "level": "invalid", "reasons": [reason] }));
    }

    /// Note what a user has to know, and what the run's settings allow.
    pub(super) fn warn(&mut self, at: Nanos, reason: Reason) {
        self.push(at, "finding", json!({ "level": "warning", "reasons": [reason] }));
    }

    pub(super) fn take_events(&mut self) -> Vec<ServerEvent> {
        std::mem::take(&mut self.events)
    }

    /// Outages of the phase, which ends at `end`.
    pub(super) fn outages(&mut self, end: Nanos) -> Vec<Outage> {
        let buckets = (end.saturating_sub(self.phase_begin) / BUCKET + 1) as usize;
        self.counts.resize(buckets.max(self.counts.len()), 0);
        self.gaps.iter().map(|gap| Outage::new(*gap, &self.counts, (self.phase_begin, end))).collect()
    }
}
