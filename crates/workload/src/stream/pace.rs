//! Streams that keep step: each starts a request only while its share of the group's is no larger
//! than its weight's.
//!
//! The counts are shared by all jobs of a phase. Threads may read them while others count, and a
//! count of others that is too low holds back, so that a stream of one job never exceeds its share
//! by more than the request that it starts; one of several jobs may by one of each. In virtual time
//! one job acts at a time, and the order depends on the calls alone.

use crate::stream::spec::StreamSpec;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tameshi_base::Nanos;

/// A job that is ahead of its share looks again after so long.
pub(crate) const LOOK_AGAIN: Nanos = 20_000;

/// One stream of a group.
#[derive(Debug)]
struct Member {
    weight: u64,
    started: AtomicU64,
    /// Jobs that still start something.
    jobs: AtomicU32,
    /// Until then it counts among the others although none of its jobs does.
    until: AtomicU64,
}

impl Member {
    fn counts(&self, now: Nanos) -> bool {
        self.jobs.load(Ordering::Relaxed) > 0 || now < self.until.load(Ordering::Relaxed)
    }
}

/// A group of streams that keep step.
#[derive(Debug, Default)]
pub struct Group(Vec<Member>);

impl Group {
    /// Count a request of `member` and return true, if it may start one.
    fn starts(&self, member: usize, now: Nanos) -> bool {
        let (mut weights, mut starts) = (0, 0);
        for other in self.0.iter().filter(|other| other.counts(now)) {
            weights += u128::from(other.weight);
            starts += u128::from(other.started.load(Ordering::Relaxed));
        }
        let own = &self.0[member];
        let ahead = u128::from(own.started.load(Ordering::Relaxed)) * weights > starts * u128::from(own.weight);
        if !ahead {
            own.started.fetch_add(1, Ordering::Relaxed);
        }
        !ahead
    }
}

/// The groups of a phase, with the place of each stream in its own.
#[derive(Debug, Default)]
pub struct Paces(Vec<Option<(Arc<Group>, usize)>>);

impl Paces {
    /// The groups of these streams.
    pub fn new<'a>(streams: impl Iterator<Item = &'a StreamSpec>) -> Self {
        let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
        let places: Vec<Option<(&str, usize)>> = streams
            .map(|stream| {
                let pace = stream.pace.as_ref()?;
                let group = groups.entry(&pace.group).or_default();
                let (weight, jobs) = (u64::from(pace.weight), stream.jobs.into());
                group.0.push(Member { weight, started: AtomicU64::new(0), jobs, until: AtomicU64::new(0) });
                Some((pace.group.as_str(), group.0.len() - 1))
            })
            .collect();
        let groups: BTreeMap<&str, Arc<Group>> = groups.into_iter().map(|(name, group)| (name, group.into())).collect();
        Self(places.into_iter().map(|of| of.map(|(name, place)| (Arc::clone(&groups[name]), place))).collect())
    }

    /// Return the pacer of stream `index`, for one of its jobs.
    pub fn of(&self, index: usize) -> Option<Pacer> {
        let (group, member) = self.0.get(index)?.as_ref()?;
        Some(Pacer { group: Arc::clone(group), member: *member, left: false })
    }
}

/// Holds one job back.
#[derive(Debug)]
pub struct Pacer {
    group: Arc<Group>,
    member: usize,
    left: bool,
}

impl Pacer {
    /// Count a request and return true, if the job may start one now.
    #[inline]
    pub(crate) fn starts(&self, now: Nanos) -> bool {
        self.group.starts(self.member, now)
    }

    /// The job starts nothing any more, and the others go on without it from `until` on: whose time
    /// is over soon, and has not yet begun to be, holds them back as long as it would have.
    pub(crate) fn leave(&mut self, until: Nanos) {
        if !std::mem::replace(&mut self.left, true) {
            self.group.0[self.member].until.fetch_max(until, Ordering::Relaxed);
            self.group.0[self.member].jobs.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::spec::Pace;
    use crate::{Job, Placement};
    use tameshi_base::{Size, Time};

    fn stream(weight: u32) -> StreamSpec {
        StreamSpec { pace: Some(Pace { group: "g".into(), weight }), ..StreamSpec::default() }
    }

    fn jobs(streams: &[StreamSpec], budget: &[Option<u64>]) -> Vec<Job> {
        let paces = Paces::new(streams.iter());
        let job = |(index, spec): (usize, &StreamSpec)| {
            let place = Placement {
                stream: index as u16,
                job: 0,
                storage_bytes: 1 << 20,
                begin: 0,
                budget_bytes: budget[index],
                seed: 1,
                name: "t",
            };
            Job::new(spec, place).paced(paces.of(index))
        };
        streams.iter().enumerate().map(job).collect()
    }

    /// Runs jobs whose requests last so long each until `end`; how many each has started.
    fn run(jobs: &mut [Job], lengths: &[Nanos], end: Nanos) -> Vec<u64> {
        let mut counts = vec![0; jobs.len()];
        let mut done: Vec<(Nanos, usize, u32)> = Vec::new();
        loop {
            let due = jobs.iter().enumerate().filter_map(|(index, job)| Some((job.next_due()?, index))).min();
            let next = done.iter().min().copied();
            match (due, next) {
                (Some((at, index)), next) if next.is_none_or(|(first, ..)| at <= first) => {
                    if at >= end {
                        return counts;
                    }
                    if let Some(issue) = jobs[index].issue(at) {
                        counts[index] += 1;
                        done.push((at + lengths[index], index, issue.slot));
                    } else {
                        assert!(jobs[index].next_due().is_none_or(|again| again > at), "time goes on");
                    }
                }
                (_, Some(first)) => {
                    done.retain(|&other| other != first);
                    jobs[first.1].complete(first.2, first.0);
                }
                (None, None) => return counts,
                (Some(_), None) => unreachable!("what is due comes first where nothing is outstanding"),
            }
        }
    }

    #[test]
    fn paced_streams_share_by_weight() {
        let mut jobs = jobs(&[stream(1), stream(8)], &[None, None]);
        let counts = run(&mut jobs, &[1_000, 100_000], 1_000_000_000);
        assert!(counts[1].abs_diff(8 * counts[0]) <= 8, "{counts:?}");
        assert!(counts[1] > 9_000, "the slower one goes as fast as it can: {counts:?}");
    }

    #[test]
    fn finished_stream_holds_no_other_back() {
        let ended = StreamSpec { duration: Some(Time(1_000_000)), ..stream(1) };
        for (streams, budget) in [([stream(1), stream(1)], Some(10 * 4096)), ([ended, stream(1)], None)] {
            let mut jobs = jobs(&streams, &[budget, None]);
            let counts = run(&mut jobs, &[10_000, 10_000], 100_000_000);
            assert!(counts[0] <= 101 && counts[1] > 9_000, "{counts:?}");
            assert!(jobs[0].is_done());
        }
    }

    #[test]
    fn paced_thinker_holds_others_back_until_its_end() {
        let end = 10_000_000;
        let thinks = |stream: StreamSpec| StreamSpec { think_time: Time(300_000), ..stream };
        let ends = |stream: StreamSpec| StreamSpec { duration: Some(Time(end)), ..stream };
        let mut jobs = jobs(&[ends(thinks(stream(1))), ends(stream(4))], &[None, None]);
        let counts = run(&mut jobs, &[10_000, 1_000], end);
        assert!(counts[0] > 30 && counts[1] <= 4 * counts[0] + 1 && 4 * counts[0] <= counts[1] + 4, "{counts:?}");
    }

    #[test]
    fn groups_know_nothing_of_one_another() {
        let other = StreamSpec { pace: Some(Pace { group: "h".into(), weight: 1 }), ..StreamSpec::default() };
        let alone = StreamSpec { block_size: Size(512), ..StreamSpec::default() };
        let paces = Paces::new([stream(1), other, alone].iter());
        assert!(paces.of(2).is_none());
        let (first, second) = (paces.of(0).expect("in a group"), paces.of(1).expect("in a group"));
        assert!((0..1000).all(|_| first.starts(0)) && (0..10).all(|_| second.starts(0)));
    }
}
