//! Busy time of a resource that knows its future work: each interval counts the work that lies in
//! it.

use std::collections::VecDeque;
use tameshi_base::Nanos;

/// Stretches of busy time, one after the other, and their sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct BusyTime {
    all: Nanos,
    /// Stretches that had not ended at the last call of `pass`; the resource is idle between them.
    ahead: VecDeque<(Nanos, Nanos)>,
}

impl BusyTime {
    pub(crate) fn add(&mut self, from: Nanos, to: Nanos) {
        self.all += to - from;
        match self.ahead.back_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => self.ahead.push_back((from, to)),
        }
    }

    /// Drop the stretches that ended by `now`; their time stays counted.
    #[inline]
    pub(crate) fn pass(&mut self, now: Nanos) {
        while self.ahead.pop_front_if(|&mut (_, end)| end <= now).is_some() {}
    }

    /// Return the busy time up to `now`.
    pub(crate) fn until(&self, now: Nanos) -> Nanos {
        self.all - self.ahead.iter().map(|&(from, to)| to.saturating_sub(from.max(now))).sum::<Nanos>()
    }

    /// Cancel all work after `now`.
    pub(crate) fn end(&mut self, now: Nanos) {
        self.all = self.until(now);
        self.ahead.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interval_counts_the_work_that_lies_in_it() {
        let mut busy = BusyTime::default();
        [(10, 20), (20, 25), (40, 50)].into_iter().for_each(|(from, to)| busy.add(from, to));
        let seen = [5, 12, 25, 39, 45, 60].map(|now| {
            busy.pass(now);
            busy.until(now)
        });
        assert_eq!(seen, [0, 2, 15, 15, 20, 25]);
        busy.add(70, 80);
        busy.end(75);
        assert_eq!(busy.until(100), 30);
    }
}
