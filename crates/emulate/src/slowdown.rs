//! Slowdown of a whole drive: answers that are due a factor later than by the model.
//!
//! The factor is that of the arrival. An answer whose time by the model has passed is held until it
//! is due; the drive itself works as fast as ever.

use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tameshi_base::{Nanos, Slow};

/// Answer that is held: due time, number that keeps the order, slot, and failure by the model.
type Held = (Nanos, u64, u32, bool);

/// Factor of a drive's latencies, and the answers that it holds.
#[derive(Debug, Default)]
pub(crate) struct Slowdown {
    factor: Slow,
    /// End of the slowdown, if it has one.
    until: Option<Nanos>,
    held: BinaryHeap<Reverse<Held>>,
    /// Number of the next held answer.
    next: u64,
}

impl Slowdown {
    /// Slow down requests that arrive from now on, until a time if there is one.
    pub(crate) fn set(&mut self, factor: Slow, until: Option<Nanos>) {
        (self.factor, self.until) = (factor, until);
    }

    /// Return the factor of requests that arrive at a time.
    #[inline]
    pub(crate) fn factor_at(&self, at: Nanos) -> Slow {
        if self.until.is_some_and(|until| at >= until) { Slow::NONE } else { self.factor }
    }

    /// Hold an answer until its due time.
    pub(crate) fn hold(&mut self, due: Nanos, slot: u32, failed: bool) {
        self.held.push(Reverse((due, self.next, slot, failed)));
        self.next += 1;
    }

    /// Return the due time of the next held answer.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.held.peek().map(|Reverse((due, ..))| *due)
    }

    /// Take the next answer that is due by `horizon`: its due time, slot and failure.
    #[inline]
    pub(crate) fn take(&mut self, horizon: Nanos) -> Option<(Nanos, u32, bool)> {
        self.next_due().filter(|&due| due <= horizon)?;
        self.held.pop().map(|Reverse((due, _, slot, failed))| (due, slot, failed))
    }

    /// Forget all held answers.
    pub(crate) fn clear(&mut self) {
        self.held.clear();
    }

    /// Return the factor at a time, and the time left.
    pub(crate) fn as_json(&self, now: Nanos) -> Value {
        let factor = self.factor_at(now);
        let left = self.until.filter(|_| factor != Slow::NONE).map(|until| until - now);
        json!({ "factor": f64::from(factor), "left_ns": left })
    }
}
