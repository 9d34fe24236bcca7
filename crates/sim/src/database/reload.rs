//! What the pool held before a clean shutdown comes back after the start (buf0dump.cc): a thread of the server reads the pages
//! that were listed, in the order of their places, while clients work.
//!
//! Each time that it has been through as many pages as `io_capacity` it looks whether clients have been at work; if so, a second
//! shall have passed since it looked last. A page takes its time on a processor, and nobody waits for the thread.

use super::outage::{Loading, Watch};
use super::{Alarm, Engine, Purpose, SECOND};
use tameshi_base::Nanos;

impl Engine {
    fn loading(&mut self) -> Option<&mut Loading> {
        self.watch.as_mut()?.loading.as_mut()
    }

    /// The thread of read-ahead, and of pages that come back.
    pub(super) fn background(&self) -> u32 {
        self.clients.len() as u32 + 2
    }

    /// The server has been started: the pages listed come back.
    pub(super) fn begin_loading(&mut self, event: String) {
        let now = self.now;
        let Some(watch) = &mut self.watch else { return };
        if !self.settings.dump.at_startup || watch.listed.is_empty() {
            return;
        }
        watch.is_unfinished = true;
        watch.loading = Some(Loading {
            event,
            began: now,
            next: 0,
            read: 0,
            on_the_way: 0,
            owed: 0,
            is_working: false,
            until: 0,
            looked: None,
        });
        self.load_on();
    }

    /// A phase begins, and alarms of the one before are no more.
    pub(super) fn load_in_this_phase(&mut self) {
        if let Some(loading) = self.loading() {
            loading.until = 0;
            self.load_on();
        }
    }

    /// Reads pages until there is something to wait for.
    pub(super) fn load_on(&mut self) {
        let (now, at_once, thread) = (self.now, self.settings.dump.page_reads, self.background());
        if self.closing && self.active == 0 {
            return;
        }
        loop {
            let Some(Watch { loading: Some(loading), listed, .. }) = self.watch.as_deref_mut() else { return };
            if loading.is_working || now < loading.until {
                return;
            }
            if loading.owed > 0 {
                loading.is_working = true;
                let owed = std::mem::take(&mut loading.owed);
                return self.work(thread, owed);
            }
            let (place, on_the_way) = (loading.next, loading.on_the_way);
            let Some(&page) = listed.get(place) else {
                if let Some(watch) = self.watch.as_mut().filter(|_| on_the_way == 0) {
                    watch.end_loading(now, true);
                }
                return;
            };
            if on_the_way >= at_once || !self.load(page) {
                return;
            }
            self.leave_room_for_clients(place as u64);
        }
    }

    /// Reads a page where it isn't in the pool yet; `false`: there is no place for it now.
    fn load(&mut self, page: u32) -> bool {
        if !self.pool.holds(page) {
            let Some(slot) = self.ahead_free.pop() else {
                self.try_later();
                return false;
            };
            let Some(frame) = self.pool.take(self.settings.model.pool.search_depth.value) else {
                self.ahead_free.push(slot);
                self.make_free_pages();
                self.try_later();
                return false;
            };
            let answered = self.read_in_background(slot, (frame, page), Purpose::Reload(frame));
            let cost = self.settings.cpu.page_read + self.settings.cpu.page_copy;
            if let Some(loading) = self.loading() {
                loading.read += 1;
                (loading.on_the_way, loading.owed) = if answered {
                    (loading.on_the_way, loading.owed + cost)
                } else {
                    (loading.on_the_way + 1, loading.owed)
                };
            }
        }
        if let Some(loading) = self.loading() {
            loading.next += 1;
        }
        true
    }

    fn try_later(&mut self) {
        let until = self.now + self.settings.model.flushing.retry.value.0;
        self.sleep_until(until);
    }

    fn sleep_until(&mut self, until: Nanos) {
        if let Some(loading) = self.loading() {
            loading.until = until;
            self.alarm(until, Alarm::Reload);
        }
    }

    /// The page at this place of the list was passed: with clients at work no more than the capacity in a second
    /// (buf_load_throttle_if_needed).
    fn leave_room_for_clients(&mut self, place: u64) {
        let (now, capacity) = (self.now, self.settings.io_capacity.max(1));
        if place % capacity < capacity - 1 {
            return;
        }
        let Some(Watch { loading: Some(loading), completed, .. }) = self.watch.as_deref_mut() else { return };
        let until = match loading.looked {
            None => now,
            Some((_, before)) if before == *completed => return,
            Some((at, _)) => now.max(at + SECOND),
        };
        loading.looked = Some((until, *completed));
        if until > now {
            self.sleep_until(until);
        }
    }

    /// A page that shall come back is there.
    pub(super) fn reloaded(&mut self, frame: u32, slot: u32) {
        self.ahead_free.push(slot);
        self.page_arrived(frame, self.background());
        let cost = self.settings.cpu.page_read + self.settings.cpu.page_copy;
        if let Some(loading) = self.loading() {
            (loading.on_the_way, loading.owed) = (loading.on_the_way - 1, loading.owed + cost);
        }
        self.load_on();
    }

    /// A processor has done what pages that came back made necessary.
    pub(super) fn reload_worked(&mut self) {
        if let Some(loading) = self.loading() {
            loading.is_working = false;
        }
        self.load_on();
    }

    /// The run is over.
    pub(crate) fn end(&mut self, now: Nanos) {
        if let Some(watch) = &mut self.watch {
            watch.stop_loading(now);
        }
    }
}
