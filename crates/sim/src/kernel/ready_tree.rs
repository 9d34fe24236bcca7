//! Tournament tree of due jobs: in order of time, equal times in the order of becoming due.

use tameshi_base::Nanos;

/// Due times of jobs. No call after [`ReadyTree::new`] allocates.
#[derive(Debug)]
pub(crate) struct ReadyTree {
    /// Winner of each match, the root at index 1. The jobs begin at index `leaves`, padded to a
    /// power of two.
    matches: Vec<Entrant>,
    leaves: usize,
    sequence: u64,
}

/// Time, then sequence number of becoming due, then job: one number compares without a branch.
type Entrant = u128;

/// Bits of a job's index. The rest of 64 bits numbers 2^44 insertions.
const JOB_BITS: u32 = 20;

/// Entry of a job that is not due.
const fn never(job: usize) -> Entrant {
    entrant(Nanos::MAX, u64::MAX >> JOB_BITS, job)
}

const fn entrant(at: Nanos, sequence: u64, job: usize) -> Entrant {
    (at as u128) << 64 | (sequence << JOB_BITS | job as u64) as u128
}

impl ReadyTree {
    /// Tree of *n* jobs, none of them due.
    pub(crate) fn new(jobs: usize) -> Self {
        let leaves = jobs.next_power_of_two().max(1);
        assert!(leaves <= 1 << JOB_BITS, "{jobs} jobs are more than the tree can number");
        let mut matches = vec![never(0); 2 * leaves];
        (0..).zip(&mut matches[leaves..]).for_each(|(job, entrant)| *entrant = never(job));
        (1..leaves).rev().for_each(|node| matches[node] = matches[2 * node]);
        Self { matches, leaves, sequence: 0 }
    }

    /// Return the first due time and its job; [`Nanos::MAX`] if no job is due.
    #[inline]
    pub(crate) fn first(&self) -> (Nanos, usize) {
        let first = self.matches[1];
        ((first >> 64) as Nanos, first as usize & ((1 << JOB_BITS) - 1))
    }

    /// Set the due time of a job; `None` if it waits for a completion.
    #[inline(always)]
    pub(crate) fn set(&mut self, job: usize, at: Option<Nanos>) {
        if at.is_some() || self.matches[self.leaves + job] != never(job) {
            self.change(job, at);
        }
    }

    /// Move the first job, due at `at`, after all others that are due then.
    pub(crate) fn requeue(&mut self, job: usize, at: Nanos) {
        debug_assert_eq!(self.first(), (at, job));
        let mut node = self.leaves + job;
        while node > 1 {
            if (self.matches[node ^ 1] >> 64) as Nanos <= at {
                return self.change(job, Some(at));
            }
            node /= 2;
        }
        // No other job is due then, and later insertions follow anyway.
    }

    fn change(&mut self, job: usize, at: Option<Nanos>) {
        self.sequence += u64::from(at.is_some());
        let mut winner = at.map_or(never(job), |at| entrant(at, self.sequence, job));
        let mut node = self.leaves + job;
        self.matches[node] = winner;
        while node > 1 {
            winner = self.matches[node ^ 1].min(winner);
            node /= 2;
            self.matches[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_job_is_earliest_then_first_to_become_due(
            jobs in 1usize..40,
            sets in proptest::collection::vec((any::<u16>(), proptest::option::of(0u64..20), any::<bool>()), 1..200),
        ) {
            let mut due = ReadyTree::new(jobs);
            let mut plain: Vec<Option<(Nanos, usize)>> = vec![None; jobs];
            for (turn, (job, at, again)) in sets.into_iter().enumerate() {
                let (first, its) = due.first();
                if again && first < Nanos::MAX {
                    due.requeue(its, first);
                    plain[its] = Some((first, turn));
                } else {
                    let job = usize::from(job) % jobs;
                    due.set(job, at);
                    plain[job] = at.map(|at| (at, turn));
                }
                let expected = (0..jobs).filter_map(|job| plain[job].map(|key| (key, job))).min();
                match expected {
                    Some(((at, _), job)) => prop_assert_eq!(due.first(), (at, job)),
                    None => prop_assert_eq!(due.first().0, Nanos::MAX),
                }
            }
        }
    }
}
