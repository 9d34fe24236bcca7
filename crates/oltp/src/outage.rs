//! Outages of the database, as seen by all clients together.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tameshi_base::Nanos;
use tameshi_record::outage::{BUCKET, Gap, Outage};

/// Events of all clients in a phase.
#[derive(Debug)]
pub(crate) struct Outages {
    begin: Nanos,
    buckets: Vec<AtomicU64>,
    down: AtomicBool,
    found: Mutex<Vec<Gap>>,
}

impl Outages {
    /// Track a phase from `begin` to `end`.
    pub(crate) fn new(begin: Nanos, end: Nanos) -> Self {
        let count = (end.saturating_sub(begin) / BUCKET + 2) as usize;
        let buckets = (0..count).map(|_| AtomicU64::new(0)).collect();
        Self { begin, buckets, down: AtomicBool::new(false), found: Mutex::new(Vec::new()) }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Vec<Gap>> {
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Note that a connection made at `opened` broke at `now`, or that none could be made.
    pub(crate) fn lost(&self, now: Nanos, opened: Nanos) {
        let mut found = self.open();
        // A connection older than the last outage, and one that broke before its end, belong to it.
        // All clients may reconnect before the first success: those connections can break anew.
        let belongs = |last: &Gap| opened < last.error || last.success.is_none_or(|success| now <= success);
        let known = found.last().is_some_and(belongs);
        if !known {
            found.push(Gap { error: now, success: None });
            self.down.store(true, Ordering::Relaxed);
        }
    }

    /// Note a transaction completed at `now` on a connection made at `opened`.
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

    /// Outages of the phase, which ended at `end`.
    pub(crate) fn of_phase(&self, end: Nanos) -> Vec<Outage> {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        self.open().iter().map(|gap| Outage::new(*gap, &counts, (self.begin, end))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn outage_lasts_until_success_on_a_new_connection() {
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
        let found = outages.of_phase(60 * SECOND);
        let [outage] = found[..] else { panic!("{found:?}") };
        assert_eq!((outage.first_error_ns, outage.first_success_ns), (20 * SECOND, Some(25 * SECOND)));
        assert!((outage.rate_before - 100.0).abs() < 1.0 && (outage.unserved - 500.0).abs() < 5.0, "{outage:?}");
        let recovered = outage.recovered_ns.expect("it came back") as f64 / 1e9;
        assert!((29.0..=30.1).contains(&recovered), "{recovered}");
    }

    #[test]
    fn connections_made_before_first_success_break_anew() {
        let outages = Outages::new(0, 60 * SECOND);
        outages.lost(20 * SECOND, 0);
        // Both clients are connected again before either has completed anything.
        let opened = [22 * SECOND, 22 * SECOND + 1];
        outages.completed(23 * SECOND, opened[0]);
        outages.lost(23 * SECOND, opened[1]);
        opened.into_iter().for_each(|opened| outages.lost(40 * SECOND, opened));
        outages.completed(45 * SECOND, 44 * SECOND);
        let spans = outages.of_phase(60 * SECOND).into_iter();
        let spans: Vec<_> = spans.map(|outage| (outage.first_error_ns, outage.first_success_ns)).collect();
        assert_eq!(spans, [(20 * SECOND, Some(23 * SECOND)), (40 * SECOND, Some(45 * SECOND))]);
    }

    #[test]
    fn second_outage_is_separate_and_may_last_to_the_end() {
        let outages = Outages::new(SECOND, 10 * SECOND);
        outages.lost(2 * SECOND, SECOND);
        outages.completed(3 * SECOND, 2 * SECOND + 5);
        outages.lost(4 * SECOND, SECOND); // a straggler of the first
        outages.lost(5 * SECOND, 3 * SECOND + 5);
        let found = outages.of_phase(10 * SECOND);
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].first_error_ns, found[1].first_success_ns), (5 * SECOND, None));
    }
}
