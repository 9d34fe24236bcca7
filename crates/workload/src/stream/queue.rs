//! Open-loop queue: scheduled requests, and the time that they wait for their start.
//!
//! Requests start in the order of their arrival. While all of them start in the interval of their
//! arrival, only a sum is kept. The arrivals of a queue that outlasts an interval are drawn ahead
//! once per interval.

use crate::stream::arrivals::{DRAWN, Schedule};
use tameshi_base::Nanos;

/// Requests of a job in an interval, integrated over time in request-nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTime {
    /// Commands issued and not completed.
    pub in_flight_ns: u64,
    /// Open-loop requests that arrived and did not start.
    pub waiting_ns: u64,
}

/// Schedule of a job or client, and its waiting requests.
#[derive(Clone, Debug)]
pub struct Queue {
    schedule: Schedule,
    /// Begin of the interval.
    begin: Nanos,
    /// Waiting requests that arrived before the interval.
    carried: u64,
    /// The schedule from the first arrival of the interval on, if requests are carried over.
    ahead: Option<Schedule>,
    /// Time that requests started in the interval have waited in it.
    waited_ns: u64,
}

impl Queue {
    /// Queue of `schedule`; the first interval begins at `begin`.
    pub fn new(schedule: Schedule, begin: Nanos) -> Self {
        Self { schedule, begin, carried: 0, ahead: None, waited_ns: 0 }
    }

    /// Arrival of the next request to start; [`Nanos::MAX`] if none is to come.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.schedule.next()
    }

    /// Start the next request at `now`. Return its arrival.
    #[inline]
    pub fn start(&mut self, now: Nanos) -> Nanos {
        let arrived = self.schedule.next();
        self.schedule.advance();
        self.carried -= u64::from(self.carried > 0);
        self.waited_ns = self.waited_ns.saturating_add(now.saturating_sub(arrived.max(self.begin)));
        arrived
    }

    /// Requests that arrived before `end` and did not start.
    pub fn unserved_before(&self, end: Nanos) -> u64 {
        self.schedule.unserved_before(end)
    }

    /// Take the waiting time of the started requests in the interval that ends at `end`; the others
    /// wait no more, since none of them will start.
    pub(crate) fn take_started(&mut self, end: Nanos) -> u64 {
        (self.begin, self.carried, self.ahead) = (self.begin.max(end), 0, None);
        std::mem::take(&mut self.waited_ns)
    }

    /// Take the time that requests have waited in the interval that ends at `end`, in
    /// request-nanoseconds: its quotient by the interval's length is the mean queue.
    pub fn take_waited(&mut self, end: Nanos) -> u64 {
        let length = end.saturating_sub(self.begin);
        let mut waited = std::mem::take(&mut self.waited_ns);
        waited = waited.saturating_add(self.carried.saturating_mul(length));
        self.begin = self.begin.max(end);
        if self.carried == 0 {
            self.ahead = None;
        }
        if self.carried == 0 && self.schedule.next() >= end {
            return waited;
        }
        let ahead = self.ahead.get_or_insert_with(|| self.schedule.clone());
        let (count, of_new) = pass(ahead, end);
        self.carried += count;
        waited.saturating_add(of_new)
    }
}

/// Pass the arrivals of `schedule` before `end`. Return their number, and the sum of their times to
/// `end`. At most [`DRAWN`] of them are drawn; the rest is taken at its mean.
fn pass(schedule: &mut Schedule, end: Nanos) -> (u64, u64) {
    let (mut count, mut sum_ns) = (0u64, 0u64);
    while schedule.next() < end && count < DRAWN {
        sum_ns = sum_ns.saturating_add(end - schedule.next());
        count += 1;
        schedule.advance();
    }
    let Some(left) = end.checked_sub(schedule.next()).filter(|left| *left > 0) else { return (count, sum_ns) };
    let rest = schedule.unserved_before(end);
    schedule.skip(rest);
    (count + rest, sum_ns.saturating_add(rest.saturating_mul(left / 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::spec::Arrivals;
    use tameshi_base::{Random, Rate};

    const SECOND: Nanos = 1_000_000_000;

    fn schedule(arrivals: &Arrivals) -> Schedule {
        Schedule::new(arrivals, None, 0, 1, 0, Random::named(7, "queue")).expect("open loop")
    }

    /// Waiting time per interval by brute force, from all arrivals and starts.
    fn expected(waits: &[(Nanos, Nanos)], intervals: u64, length: Nanos) -> Vec<u64> {
        let overlap = |begin: Nanos, end: Nanos| {
            waits.iter().map(|&(arrived, start)| start.min(end).saturating_sub(arrived.max(begin))).sum()
        };
        (0..intervals).map(|number| overlap(number * length, (number + 1) * length)).collect()
    }

    #[test]
    fn waiting_time_is_that_of_each_request() {
        let arrivals = [
            Arrivals::Constant { rate: Rate(1_000_000) },
            Arrivals::Poisson { rate: Rate(1_000_000) },
            Arrivals::Bursts { requests: 500, every: tameshi_base::Time(SECOND / 2) },
        ];
        for arrivals in arrivals {
            let all = {
                let mut drawn = schedule(&arrivals);
                std::iter::from_fn(move || {
                    let at = drawn.next();
                    drawn.advance();
                    Some(at)
                })
            };
            let all: Vec<Nanos> = all.take_while(|at| *at < 6 * SECOND).collect();
            // A server that takes 1.3 ms in the first three seconds, then 0.2 ms.
            let (mut queue, mut free, mut taken, mut waits) = (Queue::new(schedule(&arrivals), 0), 0, vec![], vec![]);
            let mut boundary = SECOND;
            loop {
                let start = free.max(queue.next());
                while start >= boundary && boundary <= 6 * SECOND {
                    taken.push(queue.take_waited(boundary));
                    boundary += SECOND;
                }
                if boundary > 6 * SECOND {
                    break;
                }
                waits.push((queue.start(start), start));
                free = start + if start < 3 * SECOND { 1_300_000 } else { 200_000 };
            }
            waits.extend(all[waits.len()..].iter().map(|&arrived| (arrived, Nanos::MAX)));
            assert_eq!(taken, expected(&waits, 6, SECOND), "{arrivals:?}");
            assert!(taken[2] > 100 * SECOND && taken[5] < taken[2], "it grows and empties: {taken:?}");
        }
    }

    #[test]
    fn queue_beyond_drawn_arrivals_is_counted_at_their_mean() {
        let rate = Rate(5_000_000_000);
        for arrivals in [Arrivals::Constant { rate }, Arrivals::Poisson { rate }] {
            let mut queue = Queue::new(schedule(&arrivals), 0);
            for number in 0..3 {
                let mean = queue.take_waited((number + 1) * SECOND) as f64 / SECOND as f64;
                let expected = 5e6 * (number as f64 + 0.5);
                assert!((mean / expected - 1.0).abs() < 2e-3, "{arrivals:?}: {mean} in second {number}");
            }
        }
    }
}
