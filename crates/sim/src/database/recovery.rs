//! A server comes back: it is started, reads its log from the last checkpoint on, reads the pages that the log names, and
//! applies it to them. Then it answers, and its pool holds those pages and nothing else.
//!
//! The log is read in order, a piece after the other, and its records are parsed in between; pages are read in their order, so many
//! at once as the profile says. Every page that was changed since the checkpoint is read, also those that were written
//! since: only reading tells. Changes that were taken back go into no account: undo goes on while the server answers already.

use super::counters::{Count, Why};
use super::fault::{Blow, How};
use super::layout::PAGE;
use super::outage::{Recovery, Step};
use super::stage::Stage;
use super::{Alarm, Engine, FIRST_ASYNC, Purpose, REQUEST, SECOND, Who};
use tameshi_base::{CommandKind, Nanos};

impl Engine {
    fn recovery(&mut self) -> Option<&mut Recovery> {
        self.watch.as_mut()?.recovery.as_mut()
    }

    /// The server that is down goes on, where it waits for nothing.
    pub(super) fn come_back(&mut self) {
        let (now, idle) = (self.now, self.outstanding == 0);
        let start = self.settings.comeback.start;
        let Some(watch) = &mut self.watch else { return };
        let idle = idle && watch.working == 0;
        let Some(recovery) = &mut watch.recovery else { return };
        let ready = recovery.began + recovery.blow.down;
        match recovery.step {
            Step::Dying if idle => {
                recovery.step = Step::Away;
                self.is_dead();
                self.alarm(now.max(ready), Alarm::Server);
            }
            Step::Away if now >= ready => {
                (recovery.step, recovery.started) = (Step::Starting, now);
                self.alarm(now + start, Alarm::Server);
            }
            Step::Starting => {
                recovery.step = Step::Log;
                // A clean shutdown leaves nothing behind its checkpoint.
                let is_clean = recovery.shutdown.is_some() && self.redo.age() == 0;
                let bytes = if is_clean { 0 } else { self.redo.to_read() };
                (recovery.log_left, recovery.log_bytes) = (bytes, bytes);
                self.read_log();
            }
            _ => {}
        }
    }

    /// The next piece of log.
    fn read_log(&mut self) {
        let most = self.settings.comeback.read;
        let Some(recovery) = self.recovery() else { return };
        if recovery.log_left == 0 {
            return self.begin_pages();
        }
        let bytes = recovery.log_left.min(most) as u32;
        let done = recovery.log_bytes - recovery.log_left;
        (recovery.log_left, recovery.piece) = (recovery.log_left - u64::from(bytes), bytes);
        let (thread, offset) = (self.thread_of(Who::LogThread), self.redo.place(done, bytes));
        if self.caches(offset, bytes.into()) {
            return self.parse_log(1);
        }
        self.command(thread, REQUEST, CommandKind::Read, (offset, bytes), Purpose::LogRead);
    }

    /// A command of a server that is down is complete.
    pub(super) fn completed_down(&mut self, (purpose, slot): (Purpose, u32), failed: bool) {
        let dying = self.recovery().is_some_and(|recovery| recovery.step == Step::Dying);
        match purpose {
            _ if dying => {}
            _ if failed => return self.fail_again(),
            Purpose::LogRead => self.parse_log(0),
            Purpose::Recover(page) => self.page_recovered(slot, page),
            Purpose::Recovered => self.page_is_done(slot),
            _ => {}
        }
        self.come_back();
    }

    /// The storage fails while the server comes back.
    fn fail_again(&mut self) {
        let now = self.now;
        if let Some(recovery) = self.recovery() {
            let blow = Blow { how: How::Storage, ..recovery.blow.clone() };
            self.crash(now, blow);
        }
    }

    /// The piece of log that was read is parsed, which takes so long at least.
    fn parse_log(&mut self, least: Nanos) {
        let lsn = self.redo.lsn();
        let (apply, copy) = (self.settings.comeback.apply, self.settings.cpu.page_copy);
        let Some(watch) = &self.watch else { return };
        let piece = watch.recovery.as_ref().map_or(0, |recovery| u64::from(recovery.piece));
        let time = (piece / watch.record_bytes(lsn) * apply + piece.div_ceil(PAGE) * copy).max(least);
        if time == 0 {
            return self.read_log();
        }
        let thread = self.thread_of(Who::LogThread);
        self.work(thread, time);
    }

    /// A processor has done what was asked of it, for a server that is down.
    pub(super) fn worked_down(&mut self) {
        match self.recovery().map(|recovery| recovery.step) {
            Some(Step::Log) => self.read_log(),
            Some(Step::Pages) => self.read_pages(),
            _ => {}
        }
        self.come_back();
    }

    /// The pages that the log names.
    fn begin_pages(&mut self) {
        let checkpoint = self.redo.last_checkpoint();
        let Some(watch) = &mut self.watch else { return };
        let Some(recovery) = &mut watch.recovery else { return };
        let named = (0..).zip(&watch.changed).filter(|(_, lsn)| **lsn > checkpoint);
        recovery.pages = named.map(|(page, _)| page).collect();
        recovery.step = Step::Pages;
        self.read_pages();
    }

    fn read_pages(&mut self) {
        let most = self.settings.comeback.page_reads;
        let thread = self.background();
        loop {
            let Some(recovery) = self.recovery() else { return };
            let Some(&page) = recovery.pages.get(recovery.next_page) else { break };
            if recovery.outstanding >= most {
                return;
            }
            let Some(slot) = self.ahead_free.pop() else { return };
            let copy = self.settings.cpu.page_copy;
            if let Some(recovery) = self.recovery() {
                recovery.next_page += 1;
                recovery.outstanding += 1;
                recovery.copying += copy;
            }
            self.counters.one(Count::PagesRead);
            if !self.is_answered(page) {
                let place = (self.page_offset(page), PAGE as u32);
                self.command(thread, slot, CommandKind::Read, place, Purpose::Recover(page));
            } else if self.keep_recovered(slot, page) {
                self.is_done_with(slot);
            }
        }
        let Some(recovery) = self.recovery().filter(|recovery| recovery.outstanding == 0) else { return };
        match std::mem::take(&mut recovery.copying) {
            0 => self.is_back(),
            copying => self.work(self.thread_of(Who::LogThread), copying),
        }
    }

    /// A page is there, and the log is applied to it. It stays in the pool, dirty; in the half that is left for clients it doesn't.
    fn page_recovered(&mut self, slot: u32, page: u32) {
        if self.keep_recovered(slot, page) {
            self.page_is_done(slot);
        }
    }

    /// Keeps a page that the log was applied to; where it can't stay it is written, and `false`.
    fn keep_recovered(&mut self, slot: u32, page: u32) -> bool {
        let (from, to) = (self.redo.last_checkpoint(), self.redo.lsn());
        if self.pool.dirty() < self.pool.frames() / 2
            && let Some(frame) = self.pool.take(1)
        {
            self.pool.put(frame, page, false, self.now);
            self.pool.change(frame, from, to);
            return true;
        }
        self.counters.one(Count::PagesWritten);
        let (thread, place) = (self.background(), (self.page_offset(page), PAGE as u32));
        self.command(thread, slot, CommandKind::Write, place, Purpose::Recovered);
        false
    }

    fn page_is_done(&mut self, slot: u32) {
        self.is_done_with(slot);
        self.read_pages();
    }

    fn is_done_with(&mut self, slot: u32) {
        debug_assert!(slot >= FIRST_ASYNC);
        self.ahead_free.push(slot);
        if let Some(recovery) = self.recovery() {
            recovery.outstanding -= 1;
        }
    }

    /// The server answers.
    fn is_back(&mut self) {
        let now = self.now;
        let recovery = self.watch.as_mut().and_then(|watch| watch.recovery.take());
        if let (Some(watch), Some(recovery)) = (&mut self.watch, &recovery) {
            recovery.tell(now, true, watch);
        }
        self.alarm(now + SECOND, Alarm::Second);
        for place in 0..self.ready.len() {
            let client = self.ready[place];
            self.turns(client, Stage::Next, Why::Processor);
        }
        self.begin_loading(recovery.map_or(String::new(), |recovery| recovery.blow.event));
    }

    /// The phase ends, and the server will not be there again: neither will its clients.
    pub(super) fn end_clients_in_vain(&mut self) {
        let recovery = self.watch.as_ref().and_then(|watch| watch.recovery.as_ref());
        if !recovery.is_some_and(Recovery::is_in_vain) {
            return;
        }
        self.ready.clear();
        for client in 0..self.clients.len() as u32 {
            if self.clients[client as usize].stage != Stage::Ended {
                self.turns(client, Stage::Ended, Why::Thinking);
                self.active -= 1;
            }
        }
    }
}
