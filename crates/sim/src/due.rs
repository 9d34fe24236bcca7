//! Which job is due next: a tournament over the jobs, ordered by time and then by who became due first.

use tameshi_base::Nanos;

/// Jobs and when each wants to submit next. No call after [`Due::new`] allocates.
#[derive(Debug)]
pub(crate) struct Due {
    /// Time and, below it, sequence per job, padded with "never" to a power of two: one number compares without a branch.
    keys: Vec<u128>,
    /// Winner of each match; the root is at 1, a job's first match at `(job + leaves) / 2`.
    winners: Vec<u32>,
    sequence: u64,
}

const NEVER: u128 = u128::MAX;

impl Due {
    /// So many jobs, none of them due.
    pub(crate) fn new(jobs: usize) -> Self {
        let leaves = jobs.next_power_of_two().max(1);
        let mut winners = vec![0; leaves];
        for node in (1..leaves).rev() {
            let left = 2 * node;
            winners[node] = if left < leaves { winners[left] } else { (left - leaves) as u32 };
        }
        Self { keys: vec![NEVER; leaves], winners, sequence: 0 }
    }

    /// The job that is due first, and when; at [`Nanos::MAX`] when none is.
    #[inline]
    pub(crate) fn first(&self) -> (Nanos, usize) {
        let winner = if self.keys.len() == 1 { 0 } else { self.winners[1] as usize };
        ((self.keys[winner] >> 64) as Nanos, winner)
    }

    /// `job` is due at `at`, or waits for a completion.
    #[inline(always)]
    pub(crate) fn set(&mut self, job: usize, at: Option<Nanos>) {
        if at.is_some() || self.keys[job] != NEVER {
            self.change(job, at);
        }
    }

    fn change(&mut self, job: usize, at: Option<Nanos>) {
        self.sequence += u64::from(at.is_some());
        self.keys[job] = at.map_or(NEVER, |at| u128::from(at) << 64 | u128::from(self.sequence));
        let leaves = self.keys.len();
        let mut node = (job + leaves) / 2;
        while node >= 1 {
            let (left, right) = (self.entrant(2 * node), self.entrant(2 * node + 1));
            let winner = if self.keys[right as usize] < self.keys[left as usize] { right } else { left };
            let before = std::mem::replace(&mut self.winners[node], winner);
            // Another won and wins: the job is in no match further up.
            if winner == before && winner as usize != job {
                return;
            }
            node /= 2;
        }
    }

    /// Who comes out of a node: the job itself at a leaf, else the winner of its match.
    #[inline]
    fn entrant(&self, node: usize) -> u32 {
        let leaves = self.keys.len();
        if node >= leaves { (node - leaves) as u32 } else { self.winners[node] }
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
