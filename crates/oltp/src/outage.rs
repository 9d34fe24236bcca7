//! When the database was not there: first error, first success after it, and back to nine tenths of the rate before.

use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tameshi_base::Nanos;

/// Completions are counted by tenths of a second.
const BUCKET: Nanos = 100_000_000;
/// The rate before an outage is taken over so many buckets at most.
const BEFORE: u64 = 100;
/// The rate after it has to hold for so many buckets.
const AFTER: usize = 10;

/// One outage; times from t0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Outage {
    /// A client lost its connection or found none.
    pub(crate) first_error_ns: Nanos,
    /// A transaction was completed on a connection made since.
    pub(crate) first_success_ns: Option<Nanos>,
    /// From then on a second had nine tenths of the transactions of before.
    pub(crate) recovered_ns: Option<Nanos>,
    /// Transactions per second before.
    pub(crate) rate_before: f64,
    /// Transactions that this rate would have completed until the first success (or the end).
    pub(crate) unserved: f64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    error: Nanos,
    success: Option<Nanos>,
}

/// What all clients of a phase tell.
#[derive(Debug)]
pub(crate) struct Outages {
    begin: Nanos,
    buckets: Vec<AtomicU64>,
    down: AtomicBool,
    found: Mutex<Vec<Open>>,
}

impl Outages {
    /// For a phase from `begin` to `end`.
    pub(crate) fn new(begin: Nanos, end: Nanos) -> Self {
        let count = (end.saturating_sub(begin) / BUCKET + 2) as usize;
        let buckets = (0..count).map(|_| AtomicU64::new(0)).collect();
        Self { begin, buckets, down: AtomicBool::new(false), found: Mutex::new(Vec::new()) }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Vec<Open>> {
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A connection made at `opened` broke at `now`, or none could be made.
    pub(crate) fn lost(&self, now: Nanos, opened: Nanos) {
        let mut found = self.open();
        // A connection older than the last return died of the outage before it.
        let known = found.last().is_some_and(|last| last.success.is_none_or(|success| opened <= success));
        if !known {
            found.push(Open { error: now, success: None });
            self.down.store(true, Ordering::Relaxed);
        }
    }

    /// A transaction was completed at `now` on a connection made at `opened`.
    #[inline]
    pub(crate) fn completed(&self, now: Nanos, opened: Nanos) {
        let index = (now.saturating_sub(self.begin) / BUCKET) as usize;
        if let Some(bucket) = self.buckets.get(index) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        if self.down.load(Ordering::Relaxed) {
            let mut found = self.open();
            if let Some(last) = found.last_mut().filter(|last| last.success.is_none() && opened >= last.error) {
                last.success = Some(now);
                self.down.store(false, Ordering::Relaxed);
            }
        }
    }

    /// All outages of the phase, which ended at `end`.
    pub(crate) fn told(&self, end: Nanos) -> Vec<Outage> {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        self.open().iter().map(|open| self.outage(*open, &counts, end)).collect()
    }

    fn outage(&self, open: Open, counts: &[u64], end: Nanos) -> Outage {
        let error = ((open.error - self.begin) / BUCKET).min(counts.len() as u64);
        let from = error.saturating_sub(BEFORE);
        let before: u64 = counts[from as usize..error as usize].iter().sum();
        let per_bucket = if error > from { before as f64 / (error - from) as f64 } else { 0.0 };
        let recovered = open.success.and_then(|success| {
            let first = ((success - self.begin) / BUCKET) as usize;
            let last = ((end.saturating_sub(self.begin)) / BUCKET) as usize;
            let holds = |at: &usize| {
                let window = &counts[*at..*at + AFTER];
                window.iter().sum::<u64>() as f64 >= 0.9 * per_bucket * AFTER as f64
            };
            let at = (first..).take_while(|at| at + AFTER <= last.min(counts.len())).find(holds)?;
            Some((self.begin + at as u64 * BUCKET).max(success))
        });
        let gone = open.success.unwrap_or(end).saturating_sub(open.error);
        Outage {
            first_error_ns: open.error,
            first_success_ns: open.success,
            recovered_ns: recovered,
            rate_before: per_bucket * 1e9 / BUCKET as f64,
            unserved: per_bucket * gone as f64 / BUCKET as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn an_outage_lasts_from_its_first_error_to_the_first_success_on_a_new_connection() {
        let outages = Outages::new(0, 60 * SECOND);
        let steady = |from: Nanos, to: Nanos, gap: Nanos, opened: Nanos| {
            (from..to).step_by(gap as usize).for_each(|now| outages.completed(now, opened));
        };
        steady(0, 20 * SECOND, SECOND / 100, 0);
        outages.lost(20 * SECOND, 0);
        outages.completed(20 * SECOND + 1, 0); // its answer was on the way already
        outages.lost(21 * SECOND, 0);
        steady(25 * SECOND, 30 * SECOND, SECOND / 50, 24 * SECOND);
        steady(30 * SECOND, 50 * SECOND, SECOND / 100, 24 * SECOND);
        let told = outages.told(60 * SECOND);
        let [outage] = told[..] else { panic!("{told:?}") };
        assert_eq!((outage.first_error_ns, outage.first_success_ns), (20 * SECOND, Some(25 * SECOND)));
        assert!((outage.rate_before - 100.0).abs() < 1.0 && (outage.unserved - 500.0).abs() < 5.0, "{outage:?}");
        let recovered = outage.recovered_ns.expect("it came back") as f64 / 1e9;
        assert!((29.0..=30.1).contains(&recovered), "{recovered}");
    }

    #[test]
    fn a_second_outage_is_one_of_its_own_and_may_last_to_the_end() {
        let outages = Outages::new(SECOND, 10 * SECOND);
        outages.lost(2 * SECOND, SECOND);
        outages.completed(3 * SECOND, 2 * SECOND + 5);
        outages.lost(4 * SECOND, SECOND); // a straggler of the first
        outages.lost(5 * SECOND, 3 * SECOND + 5);
        let told = outages.told(10 * SECOND);
        assert_eq!(told.len(), 2);
        assert_eq!((told[1].first_error_ns, told[1].first_success_ns), (5 * SECOND, None));
    }
}
