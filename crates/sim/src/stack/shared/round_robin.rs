//! Smooth weighted round robin: turns by weight, evenly spread.
//!
//! While the queues `i` are waiting, queue `i` gets `weight_i / Σ weights` of the turns. A queue
//! that is not waiting accumulates no credit.

/// Queues that take turns.
#[derive(Debug, Default)]
pub(super) struct WeightedRoundRobin(Vec<Turn>);

#[derive(Debug)]
struct Turn {
    weight: i64,
    /// Turns owed, times the sum of the weights.
    credit: i64,
    /// Waiting items.
    waiting: u32,
}

impl WeightedRoundRobin {
    /// Add a queue of this weight; return its number.
    pub(super) fn join(&mut self, weight: i64) -> usize {
        self.0.push(Turn { weight, credit: 0, waiting: 0 });
        self.0.len() - 1
    }

    pub(super) fn set_weight(&mut self, place: usize, weight: i64) {
        self.0[place].weight = weight;
    }

    /// Add a waiting item to a queue.
    pub(super) fn wait(&mut self, place: usize) {
        self.0[place].waiting += 1;
    }

    /// Take an item of the queue whose turn it is; return the queue.
    pub(super) fn take(&mut self) -> Option<usize> {
        let (mut total, mut best) = (0, None::<usize>);
        for place in 0..self.0.len() {
            let turn = &mut self.0[place];
            if turn.waiting == 0 {
                turn.credit = 0;
                continue;
            }
            turn.credit += turn.weight;
            total += turn.weight;
            if best.is_none_or(|best| self.0[place].credit > self.0[best].credit) {
                best = Some(place);
            }
        }
        let turn = &mut self.0[best?];
        turn.credit -= total;
        turn.waiting -= 1;
        best
    }

    /// Take an item of a queue out of turn; return whether there was one.
    pub(super) fn take_at(&mut self, place: usize) -> bool {
        let turn = &mut self.0[place];
        let waits = turn.waiting > 0;
        turn.waiting -= u32::from(waits);
        waits
    }

    /// Forget all items.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(|turn| turn.waiting = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_serves_by_weight_evenly_spread() {
        let mut turns = WeightedRoundRobin::default();
        for weight in [5, 1, 1] {
            let place = turns.join(weight);
            (0..100).for_each(|_| turns.wait(place));
        }
        let taken: Vec<usize> = (0..14).filter_map(|_| turns.take()).collect();
        assert_eq!(taken, [0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0]);
    }

    #[test]
    fn idle_queue_accumulates_no_credit() {
        let mut turns = WeightedRoundRobin::default();
        let (first, second) = (turns.join(1), turns.join(9));
        (0..50).for_each(|_| turns.wait(first));
        assert!((0..20).all(|_| turns.take() == Some(first)));
        (0..50).for_each(|_| turns.wait(second));
        let taken = (0..10).filter(|_| turns.take() == Some(second)).count();
        assert_eq!(taken, 9);
        turns.clear();
        assert_eq!(turns.take(), None);
    }
}
