//! Taking turns by weights, evenly spread: smooth weighted round robin.
//!
//! Over any stretch in which those at places `i` wait, the one at `i` gets `weight_i / Σ weights` of the turns. Who does not wait
//! saves nothing up.

/// Those that take turns.
#[derive(Debug, Default)]
pub(super) struct WeightedRoundRobin(Vec<Turn>);

#[derive(Debug)]
struct Turn {
    weight: i64,
    /// WeightedRoundRobin it is owed, times the sum of the weights.
    credit: i64,
    /// What waits there.
    waiting: u32,
}

impl WeightedRoundRobin {
    /// One more takes turns, of this weight; its place.
    pub(super) fn join(&mut self, weight: i64) -> usize {
        self.0.push(Turn { weight, credit: 0, waiting: 0 });
        self.0.len() - 1
    }

    pub(super) fn set_weight(&mut self, place: usize, weight: i64) {
        self.0[place].weight = weight;
    }

    /// One more waits at a place.
    pub(super) fn wait(&mut self, place: usize) {
        self.0[place].waiting += 1;
    }

    /// Whose turn it is, of those where something waits: one thing less.
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

    /// Takes what waits at a place, out of its turn; whether anything did.
    pub(super) fn take_at(&mut self, place: usize) -> bool {
        let turn = &mut self.0[place];
        let waits = turn.waiting > 0;
        turn.waiting -= u32::from(waits);
        waits
    }

    /// Nothing waits any more.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(|turn| turn.waiting = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_each_round_everybody_gets_the_weight_and_nobody_waits_long() {
        let mut turns = WeightedRoundRobin::default();
        for weight in [5, 1, 1] {
            let place = turns.join(weight);
            (0..100).for_each(|_| turns.wait(place));
        }
        let taken: Vec<usize> = (0..14).filter_map(|_| turns.take()).collect();
        assert_eq!(taken, [0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0]);
    }

    #[test]
    fn who_did_not_wait_has_saved_nothing_up() {
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
