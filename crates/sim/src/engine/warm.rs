//! A warm start: what the buffer pool holds when everything was read once and the workload has gone on for a while.
//!
//! No time passes, and no request reaches the drives. First all tables and indexes are read, one after the other, as the
//! measured world does. Where they do not all fit, the workload's own transactions follow, one client after the other, so
//! that in the end the pool holds what they ask for most. All pages are clean afterwards, and the log is empty.

use super::forward::{Got, Work};
use super::{Engine, Seeds};
use tameshi_base::Random;

/// Gets for each frame after which the pool is as warm as it gets, however few pages came in.
const MOST_GETS: u64 = 32;

impl Engine {
    /// Warms the pool.
    pub(super) fn warm(&mut self) {
        let (pages, (first, buffer)) = (self.layout.next, self.layout.change_buffer);
        let mut work = Work::default();
        (0..first).chain(first + buffer..pages).for_each(|page| self.touch(page, &mut work));
        let frames = u64::from(self.pool.frames());
        if u64::from(pages - buffer) <= frames {
            return;
        }
        // Without time a page would never have been in the old part for long enough.
        let old_time = self.pool.set_old_time(0);
        let seeds = Seeds { data: self.seeds.data, run: Random::named(self.seeds.run, "warm").bits() };
        let (count, shared) = (self.drives.clients(), self.program.shared());
        let mut clients: Vec<_> = (0..count).map(|number| self.program.client(number, count, seeds, &shared)).collect();
        work.got = Got::default();
        for client in (0..clients.len()).cycle() {
            if work.got.misses >= frames || work.got.gets >= frames * MOST_GETS {
                break;
            }
            self.read_at_once(&mut clients[client], &mut work);
        }
        self.pool.set_old_time(old_time);
    }
}
