//! Which job is due next: a tournament over the jobs, ordered by time and then by who became due first.

use tameshi_base::Nanos;

/// Jobs and when each wants to submit next. No call after [`Due::new`] allocates.
#[derive(Debug)]
pub(crate) struct Due {
    /// Who comes out of each match, the root at 1; from `leaves` on the jobs themselves, padded to a power of two.
    matches: Vec<Entrant>,
    leaves: usize,
    sequence: u64,
}

/// A job, and the time at which it is due with, below it, a sequence: one number compares without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entrant {
    key: u128,
    job: u32,
}

const NEVER: u128 = u128::MAX;

impl Due {
    /// So many jobs, none of them due.
    pub(crate) fn new(jobs: usize) -> Self {
        let leaves = jobs.next_power_of_two().max(1);
        let mut matches = vec![Entrant { key: NEVER, job: 0 }; 2 * leaves];
        (0..).zip(&mut matches[leaves..]).for_each(|(job, entrant)| entrant.job = job);
        (1..leaves).rev().for_each(|node| matches[node] = matches[2 * node]);
        Self { matches, leaves, sequence: 0 }
    }

    /// The job that is due first, and when; at [`Nanos::MAX`] when none is.
    #[inline]
    pub(crate) fn first(&self) -> (Nanos, usize) {
        let Entrant { key, job } = self.matches[1];
        ((key >> 64) as Nanos, job as usize)
    }

    /// `job` is due at `at`, or waits for a completion.
    #[inline(always)]
    pub(crate) fn set(&mut self, job: usize, at: Option<Nanos>) {
        if at.is_some() || self.matches[self.leaves + job].key != NEVER {
            self.change(job, at);
        }
    }

    fn change(&mut self, job: usize, at: Option<Nanos>) {
        self.sequence += u64::from(at.is_some());
        let key = at.map_or(NEVER, |at| u128::from(at) << 64 | u128::from(self.sequence));
        let mut winner = Entrant { key, job: job as u32 };
        let mut node = self.leaves + job;
        // Where the same one wins as before, nothing changes further up.
        while self.matches[node] != winner {
            self.matches[node] = winner;
            if node == 1 {
                return;
            }
            let other = self.matches[node ^ 1];
            winner = if other.key < winner.key { other } else { winner };
            node /= 2;
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
            jobs in 1usize..40, sets in proptest::collection::vec((any::<u16>(), proptest::option::of(0u64..20)), 1..200),
        ) {
            let mut due = Due::new(jobs);
            let mut plain: Vec<Option<(Nanos, usize)>> = vec![None; jobs];
            for (turn, (job, at)) in sets.into_iter().enumerate() {
                let job = usize::from(job) % jobs;
                due.set(job, at);
                plain[job] = at.map(|at| (at, turn));
                let expected = (0..jobs).filter_map(|job| plain[job].map(|key| (key, job))).min();
                match expected {
                    Some(((at, _), job)) => prop_assert_eq!(due.first(), (at, job)),
                    None => prop_assert_eq!(due.first().0, Nanos::MAX),
                }
            }
        }
    }
}
