//! What a drive does by itself while it holds no command: it empties its SLC cache and makes room for it.
//!
//! As much as its dies program at once is on its way at a time. A command that comes finds the dies at that work, as it finds them at
//! any other; the next step waits until the drive idles again.

use super::Flash;
use super::ftl::Step;
use tameshi_base::Nanos;

impl Flash {
    /// The drive holds no command any more.
    #[inline(never)]
    pub(super) fn rests(&mut self, now: Nanos) {
        let number = self.idling();
        let Some(idle) = &mut self.idle else { return };
        idle.since = now;
        if !std::mem::replace(&mut idle.is_awaited, true) {
            self.events.add(now + idle.after, number);
        }
    }

    /// Events under way have been forgotten.
    pub(super) fn rests_anew(&mut self, now: Nanos) {
        if let Some(idle) = &mut self.idle {
            idle.is_awaited = false;
            self.rests(now);
        }
    }

    /// The number of its event: behind those of the dies.
    fn idling(&self) -> u32 {
        self.dies.len() as u32
    }

    /// The time may have come.
    #[cold]
    pub(super) fn idles(&mut self, at: Nanos) {
        let number = self.idling();
        let Some(idle) = &mut self.idle else { return };
        idle.is_awaited = self.held == 0;
        if !idle.is_awaited {
            return;
        }
        let due = idle.since + idle.after;
        if due > at {
            return self.events.add(due, number);
        }
        // What reads interrupt ends later: then it looks again.
        let at_work = |of: &Self| of.dies.iter().filter(|die| die.now.is_some()).map(|die| die.end).max();
        let goes_on = at_work(self).or_else(|| {
            let any = self.tidy(at);
            at_work(self).or(any.then_some(at))
        });
        if let Some(end) = goes_on {
            self.events.add(end.max(at), number);
        } else if let Some(idle) = &mut self.idle {
            idle.is_awaited = false;
        }
    }

    /// Moves as many units as all dies program at once, or erases a block of each controller; whether anything was left to do.
    fn tidy(&mut self, at: Nanos) -> bool {
        let mut any = false;
        for number in 0..self.controllers.len() {
            let mut left = self.layout.dies() * self.layout.program_units;
            while left > 0 {
                let Some(step) = self.controllers[number].ftl.tidy() else { break };
                any = true;
                match step {
                    Step::Moved { from, to, frontier } => {
                        self.move_unit(number, frontier, (from, to), false, at);
                        left -= 1;
                    }
                    Step::Erased { .. } => {
                        self.erase(number, false, at);
                        break;
                    }
                }
            }
        }
        any
    }
}
