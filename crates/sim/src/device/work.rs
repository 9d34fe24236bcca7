//! How long something has worked that is told ahead what it will do: busy shares of whatever interval count what lies in it.

use std::collections::VecDeque;
use tameshi_base::Nanos;

/// Stretches of time in which something works, one after the other, and how long they are together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    all: Nanos,
    /// Those that had not ended when last looked at; between them it waits.
    ahead: VecDeque<(Nanos, Nanos)>,
}

impl Work {
    pub(crate) fn add(&mut self, from: Nanos, to: Nanos) {
        self.all += to - from;
        match self.ahead.back_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => self.ahead.push_back((from, to)),
        }
    }

    /// What has ended by `now` is looked at no more.
    #[inline]
    pub(crate) fn pass(&mut self, now: Nanos) {
        while self.ahead.pop_front_if(|&mut (_, end)| end <= now).is_some() {}
    }

    /// How long it has worked by `now`.
    pub(crate) fn until(&self, now: Nanos) -> Nanos {
        self.all - self.ahead.iter().map(|&(from, to)| to.saturating_sub(from.max(now))).sum::<Nanos>()
    }

    /// What would be done after `now` will not be.
    pub(crate) fn end(&mut self, now: Nanos) {
        self.all = self.until(now);
        self.ahead.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interval_has_the_work_that_lies_in_it() {
        let mut work = Work::default();
        [(10, 20), (20, 25), (40, 50)].into_iter().for_each(|(from, to)| work.add(from, to));
        let told = [5, 12, 25, 39, 45, 60].map(|now| {
            work.pass(now);
            work.until(now)
        });
        assert_eq!(told, [0, 2, 15, 15, 20, 25]);
        work.add(70, 80);
        work.end(75);
        assert_eq!(work.until(100), 30);
    }
}
