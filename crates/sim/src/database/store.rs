//! Pages and log of the server, with all that reads and writes them passes through: the buffer
//! pool, the host's page cache, and the port to the kernel.

use super::binlog::Binlog;
use super::counters::{Count, Counters};
use super::layout::{Layout, PAGE};
use super::log::Log;
use super::page_cache::PageCache;
use super::pool::Pool;
use super::pool_mutex::PoolMutex;
use super::port::{Places, Port, Purpose, REQUEST, Requester};
use super::redo::Need;
use super::settings::Settings;
use tameshi_base::CommandKind;
use tameshi_spec::profile::{Adaptive, FreePages};

/// Consequence of an operation for a client other than the one it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The client resumes its plan.
    Resume(u32),
    /// The log has room: the client plans its statement.
    PlanStatement(u32),
    /// The client waits for a free page before it resumes.
    AwaitFreePage(u32),
}

/// Pages in memory and on the storage, and the log.
pub(super) struct Store {
    pub(super) settings: Settings,
    pub(super) layout: Layout,
    pub(super) pool: Pool,
    pub(super) mutex: PoolMutex,
    /// Frames, and clients that wait for their pages to arrive or to be written.
    pub(super) page_waiters: Vec<(u32, u32)>,
    pub(super) log: Log,
    /// `None`: it is off.
    pub(super) binlog: Option<Binlog>,
    pub(super) cache: PageCache,
    pub(super) counters: Counters,
    pub(super) port: Port,
    /// Effects on clients that the server has not applied yet.
    pub(super) effects: Vec<Effect>,
}

/// An empty pool by the rules of the version.
pub(super) fn empty_pool(settings: &Settings, pages: u32) -> Pool {
    let (pool, flushing) = (&settings.pool, &settings.flushing);
    let mut empty = Pool::new(pool.frames, pages, pool.midpoint);
    if flushing.latched_writes && flushing.doublewrite {
        empty.latch_for_doublewrite();
    }
    if flushing.free_pages == Some(FreePages::PageCleaner) {
        empty.keep_young_by_frames();
    }
    empty
}

impl Store {
    pub(super) fn new(settings: Settings, layout: Layout, places: Places, has_faults: bool) -> Self {
        Self {
            pool: empty_pool(&settings, layout.next + 1),
            mutex: PoolMutex::default(),
            page_waiters: Vec::new(),
            log: Log::new(settings.log, &settings.model, has_faults),
            binlog: settings.binlog.map(Binlog::new),
            cache: PageCache::new(settings.pool.cached),
            counters: Counters::new(),
            port: Port::new(places),
            effects: Vec::new(),
            settings,
            layout,
        }
    }

    /// Lose all that was in the server's memory.
    pub(super) fn forget(&mut self) {
        self.pool = empty_pool(&self.settings, self.layout.next + 1);
        self.page_waiters.clear();
        self.log.forget_waiters();
        if let Some(binlog) = &mut self.binlog {
            binlog.forget();
        }
    }

    /// Grow the pool's tables to the pages that there are.
    pub(super) fn grow(&mut self) {
        self.pool.grow(self.layout.next + 1);
    }

    pub(super) fn page_offset(&self, page: u32) -> u64 {
        self.settings.page_offset(page)
    }

    /// Take a free or clean frame from near the LRU list's end.
    pub(super) fn take_frame(&mut self) -> Option<u32> {
        self.pool.take(self.settings.pool.search_depth)
    }

    /// Send a command, and count it.
    pub(super) fn command(&mut self, thread: u32, slot: u32, kind: CommandKind, place: (u64, u32), purpose: Purpose) {
        match kind {
            CommandKind::Read => {
                self.counters.one(Count::Reads);
                self.counters.add(Count::ReadBytes, u64::from(place.1));
            }
            CommandKind::Write => {
                self.counters.one(Count::Writes);
                self.counters.add(Count::WrittenBytes, u64::from(place.1));
            }
            CommandKind::Flush | CommandKind::Trim => {}
        }
        self.port.send(thread, slot, kind, place, purpose);
    }

    /// Read a page from the storage.
    pub(super) fn read(&mut self, thread: u32, slot: u32, page: u32, purpose: Purpose) {
        let place = (self.page_offset(page), PAGE as u32);
        self.command(thread, slot, CommandKind::Read, place, purpose);
    }

    /// Send a flush of the requester's thread, and count it.
    pub(super) fn sync(&mut self, requester: Requester, purpose: Purpose) {
        self.counters.one(Count::Fsyncs);
        let thread = self.port.threads.of(requester);
        self.command(thread, REQUEST, CommandKind::Flush, (0, 0), purpose);
    }

    /// Keep bytes that are read or written in the page cache. Return whether it had all of them.
    pub(super) fn cache(&mut self, offset: u64, bytes: u64) -> bool {
        self.cache.use_bytes(offset, bytes)
    }

    /// Keep a page that is read or written in the page cache.
    pub(super) fn cache_page(&mut self, page: u32) {
        self.cache(self.page_offset(page), PAGE);
    }

    /// Read a page through the page cache. Return whether the cache had it.
    pub(super) fn is_cached(&mut self, page: u32) -> bool {
        let hit = self.cache(self.page_offset(page), PAGE);
        if hit {
            self.counters.one(Count::CacheHits);
            self.counters.one(Count::Reads);
            self.counters.add(Count::ReadBytes, PAGE);
        }
        hit
    }

    /// Log bytes of a change of the page in a frame. Return the change's log position.
    #[inline]
    pub(super) fn change(&mut self, frame: u32, page: u32, bytes: u64) -> u64 {
        let (begin, lsn) = self.log.redo.append(bytes);
        self.counters.add(Count::LogBytes, bytes);
        self.pool.change(frame, begin, lsn);
        if let Some(durability) = &mut self.log.durability {
            durability.change(page, lsn);
        }
        lsn
    }

    /// Resume clients that wait for a frame's page, in their order.
    pub(super) fn wake_page_waiters(&mut self, frame: u32) {
        let effects = &mut self.effects;
        self.page_waiters.retain(|&(waited, client)| {
            let waits_on = waited != frame;
            effects.extend((!waits_on).then_some(Effect::Resume(client)));
            waits_on
        });
    }

    /// Latch a page whose write to the storage begins.
    pub(super) fn latch(&mut self, frame: u32) {
        if self.settings.flushing.latched_writes {
            self.pool.latch(frame);
        }
    }

    /// Unlatch a page that is written, and resume clients that wait to change it.
    pub(super) fn unlatch(&mut self, frame: u32) {
        if self.settings.flushing.latched_writes {
            self.pool.unlatch(frame);
            self.wake_page_waiters(frame);
        }
    }

    /// Log bytes of a transaction's state that change no page of the pool. Return their end.
    pub(super) fn append_log(&mut self, bytes: u64) -> u64 {
        self.counters.add(Count::LogBytes, bytes);
        self.log.redo.append(bytes).1
    }

    /// Request the log durable up to `lsn`. Return whether it is.
    pub(super) fn want_log(&mut self, lsn: u64, requester: Requester) -> bool {
        let need = self.log.want(lsn, requester);
        self.serve_log(need, requester)
    }

    /// Request the log durable for a commit. Return whether it is.
    pub(super) fn want_log_for_commit(&mut self, lsn: u64, client: u32) -> bool {
        let need = self.log.want_for_commit(lsn, client);
        self.serve_log(need, Requester::Client(client))
    }

    fn serve_log(&mut self, need: Need, requester: Requester) -> bool {
        if let Need::Lead { offset, bytes } = need {
            self.write_log(requester, (offset, bytes));
        }
        need == Need::Durable
    }

    pub(super) fn write_log(&mut self, requester: Requester, (offset, bytes): (u64, u32)) {
        self.counters.one(Count::LogWrites);
        self.cache(offset, bytes.into());
        let thread = self.port.threads.of(requester);
        self.command(thread, REQUEST, CommandKind::Write, (offset, bytes), Purpose::LogWrite(requester));
    }

    /// Note the log of a commit that is answered before its log is durable.
    pub(super) fn hand_log(&mut self) {
        if self.log.hand() {
            self.counters.one(Count::LogWrites);
            self.counters.one(Count::Writes);
        }
    }

    /// Sync the log after a write, unless the write was durable by itself.
    pub(super) fn sync_log(&mut self, requester: Requester) {
        let purpose = Purpose::LogSync(requester);
        if self.log.writes_through() {
            let thread = self.port.threads.of(requester);
            return self.command(thread, REQUEST, CommandKind::Flush, (0, 0), purpose);
        }
        self.counters.one(Count::LogFsyncs);
        self.sync(requester, purpose);
    }

    /// Move the checkpoint to the oldest change that is not written, and let clients that wait
    /// for room in the log plan their statements.
    pub(super) fn move_checkpoint(&mut self) {
        if self.log.redo.checkpoint(self.pool.oldest_change()) {
            self.counters.one(Count::Checkpoints);
        }
        let has_room = match self.settings.flushing.adaptive {
            // MariaDB's clients wait until the age at which flushing began.
            Some(Adaptive::Growth) => !self.log.is_old(),
            Some(Adaptive::Age | Adaptive::RedoRate) | None => !self.log.is_full(),
        };
        if has_room {
            self.effects.extend(self.log.space_waiters.drain(..).map(Effect::PlanStatement));
        }
    }

    /// Return whether the log is so full that pages are flushed as fast as possible.
    pub(super) fn is_log_urgent(&self) -> bool {
        match self.settings.flushing.adaptive {
            Some(Adaptive::Growth) => !self.log.space_waiters.is_empty(),
            Some(Adaptive::Age | Adaptive::RedoRate) | None => self.log.is_old(),
        }
    }
}
