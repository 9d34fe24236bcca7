//! Which job is due next: a tournament over the jobs, ordered by time and then by who became due first.

use tameshi_base::Nanos;

/// Jobs and when each wants to submit next. No call after [`ReadyTree::new`] allocates.
#[derive(Debug)]
pub(crate) struct ReadyTree {
    /// Who comes out of each match, the root at 1; from `leaves` on the jobs themselves, padded to a power of two.
    matches: Vec<Entrant>,
    leaves: usize,
    sequence: u64,
}

/// A time, below it the sequence in which jobs became due, and below that the job: one number compares without a branch.
type Entrant = u128;

/// Bits of a job's number; what is left of 64 counts 2^44 turns.
const JOB_BITS: u32 = 20;

/// A job that is not due.
const fn never(job: usize) -> Entrant {
    entrant(Nanos::MAX, u64::MAX >> JOB_BITS, job)
}

const fn entrant(at: Nanos, sequence: u64, job: usize) -> Entrant {
    (at as u128) << 64 | (sequence << JOB_BITS | job as u64) as u128
}

impl ReadyTree {
    /// So many jobs, none of them due.
    pub(crate) fn new(jobs: usize) -> Self {
        let leaves = jobs.next_power_of_two().max(1);
        assert!(leaves <= 1 << JOB_BITS, "{jobs} jobs are more than can be told apart");
        let mut matches = vec![never(0); 2 * leaves];
        (0..).zip(&mut matches[leaves..]).for_each(|(job, entrant)| *entrant = never(job));
        (1..leaves).rev().for_each(|node| matches[node] = matches[2 * node]);
        Self { matches, leaves, sequence: 0 }
    }

    /// The job that is due first, and when; at [`Nanos::MAX`] when none is.
    #[inline]
    pub(crate) fn first(&self) -> (Nanos, usize) {
        let first = self.matches[1];
        ((first >> 64) as Nanos, first as usize & ((1 << JOB_BITS) - 1))
    }

    /// `job` is due at `at`, or waits for a completion.
    #[inline(always)]
    pub(crate) fn set(&mut self, job: usize, at: Option<Nanos>) {
        if at.is_some() || self.matches[self.leaves + job] != never(job) {
            self.change(job, at);
        }
    }

    /// The first job, which is due at a time, is so again behind all others that are due then.
    pub(crate) fn again(&mut self, job: usize, at: Nanos) {
        debug_assert_eq!(self.first(), (at, job));
        let mut node = self.leaves + job;
        while node > 1 {
            if (self.matches[node ^ 1] >> 64) as Nanos <= at {
                return self.change(job, Some(at));
            }
            node /= 2;
        }
        // Nobody else is due then, and whoever will be comes behind it anyway.
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
        fn the_first_is_the_earliest_and_among_equals_the_one_that_became_due_first(
            jobs in 1usize..40,
            sets in proptest::collection::vec((any::<u16>(), proptest::option::of(0u64..20), any::<bool>()), 1..200),
        ) {
            let mut due = ReadyTree::new(jobs);
            let mut plain: Vec<Option<(Nanos, usize)>> = vec![None; jobs];
            for (turn, (job, at, again)) in sets.into_iter().enumerate() {
                let (first, its) = due.first();
                if again && first < Nanos::MAX {
                    due.again(its, first);
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
