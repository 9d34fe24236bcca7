//! Free pages by user threads, as MySQL 5.5 has it (buf0flu.c: `buf_flush_free_margin` and what it calls).
//!
//! Who has read a page looks at the LRU list's end. If too few pages there can be replaced, it flushes a batch from the
//! list's end itself, or waits until the batch is over that somebody else flushes: one thread works, all others that
//! read meanwhile stand still. Each page that is looked at costs time under the pool's one mutex, and a batch begins anew
//! at the list's end after each page that it takes. What is flushed goes to the list's end, to be replaced next.

use super::counters::Why;
use super::flush::LRU;
use super::stage::Stage;
use super::{Alarm, Engine, NONE};

impl Engine {
    /// Pages that must be free or replaceable, how many more a batch makes, and how far is looked for them.
    fn margin(&self) -> (u32, u32, u32) {
        let margin = self.settings.margin;
        (margin, margin / 4 + 100, 2 * margin - 5)
    }

    /// A client has read a page: whether it has to wait before it goes on, for a batch or for the pool's mutex.
    pub(super) fn keeps_margin(&mut self, client: u32) -> bool {
        let (margin, extra, search) = self.margin();
        let replaceable = self.pool.replaceable(search, margin + extra);
        let held = self.look_under_mutex();
        if replaceable < margin {
            self.batches[LRU].quota = u64::from(margin + extra - replaceable);
            self.begin_batch(LRU);
            if !self.batches[LRU].is_idle() {
                self.turns(client, Stage::Waiting, Why::FreePage);
                self.free_waiters.push_back(client);
                return true;
            }
        }
        if held > 0 {
            self.turns(client, Stage::Waiting, Why::FreePage);
            self.alarm(self.now + held, Alarm::Client(client));
        }
        held > 0
    }

    /// How long it takes from now to look at the pages of the list that were looked at last, with the mutex that others may
    /// have before.
    fn look_under_mutex(&mut self) -> u64 {
        let time = self.pool.take_looked() * self.settings.cpu.pool_look;
        if time == 0 {
            return 0;
        }
        self.mutex.hold(self.now, time) - self.now
    }

    /// The dirty pages nearest to the LRU list's end, as many as the batch shall have, with their old neighbours.
    pub(super) fn collect_for_user(&mut self, most: usize, pages: &mut Vec<(u32, u64)>) {
        let (margin, extra, _) = self.margin();
        // Who found no page at all has set no number.
        let wanted = match self.batches[LRU].quota {
            0 => u64::from(margin + extra),
            wanted => wanted,
        };
        let most = most.min(wanted as usize);
        let (mut at, mut passed, mut looked) = (self.pool.end(), 0, 0);
        while at != NONE && pages.len() < most {
            passed += 1;
            if let Some(around) = self.take_for_batch(at, (most, true), pages) {
                looked += passed + around;
            }
            at = self.pool.before(at);
        }
        self.batches[LRU].looked = looked + passed;
    }
}
