//! Writing of map changes to the flash, before flushes and writes with force unit access complete.
//!
//! One map write is under way at a time. All requests ready at its begin share it; later requests
//! wait for the next.

use tameshi_base::Nanos;

/// Write that waits for the map: its slot, and the begin of its last program.
pub(super) type WaitingWrite = (u32, Nanos);

/// State of the map writes.
#[derive(Debug, Default)]
pub(super) struct MapWriting {
    /// True if the map changed since the last map write began.
    changed: bool,
    is_under_way: bool,
    /// End of the last map write.
    ended: Nanos,
    /// Flushes that share the map write under way, or the last one.
    flushes: usize,
    /// Writes that share the map write under way, and those that wait for the next.
    writes: Vec<WaitingWrite>,
    later: Vec<WaitingWrite>,
    /// Die of the last map write.
    die: usize,
}

impl MapWriting {
    #[inline]
    pub(super) fn note_change(&mut self) {
        self.changed = true;
    }

    /// Return when a flush that is ready at `at` goes on; `None` until the map write under way
    /// ends.
    pub(super) fn next_flush(&self, at: Nanos) -> Option<Nanos> {
        (!self.is_under_way).then(|| at.max(self.ended))
    }

    /// Return whether a flush must wait for a map write. Counts flushes that the last map write
    /// served.
    pub(super) fn must_write(&mut self) -> bool {
        if self.flushes > 0 {
            self.flushes -= 1;
            return false;
        }
        self.changed
    }

    /// Let a write wait for the next map write; return whether to begin it now.
    pub(super) fn wait(&mut self, write: WaitingWrite) -> bool {
        self.later.push(write);
        !self.is_under_way
    }

    /// Begin a map write for `flushes` flushes and all waiting writes; return its die, the next in
    /// turn.
    pub(super) fn begin(&mut self, flushes: usize, dies: usize, is_dead: impl Fn(usize) -> bool) -> usize {
        (self.changed, self.is_under_way, self.flushes) = (false, true, flushes);
        std::mem::swap(&mut self.writes, &mut self.later);
        let after = (1..=dies).map(|next| (self.die + next) % dies);
        self.die = after.into_iter().find(|&die| !is_dead(die)).unwrap_or(0);
        self.die
    }

    /// End the map write; return the writes that shared it.
    pub(super) fn end(&mut self, at: Nanos) -> Vec<WaitingWrite> {
        (self.is_under_way, self.ended) = (false, at);
        std::mem::take(&mut self.writes)
    }

    /// Return the emptied buffer of [`MapWriting::end`]. Returns whether other writes wait.
    pub(super) fn reuse(&mut self, writes: Vec<WaitingWrite>) -> bool {
        self.writes = writes;
        !self.later.is_empty()
    }
}
