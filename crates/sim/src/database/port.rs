//! Port to the kernel: work on processors, commands to the storage, and alarms of the server.
//!
//! Each thread of the server has a number: those of clients come first, then those in [`Threads`].
//! A thread has slots: slot 0 is its work on a processor, then its synchronous request, then
//! asynchronous ones.

use crate::basics::command_id::CommandId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tameshi_base::{Command, CommandKind, Nanos};

/// Slot of a thread's synchronous request.
pub(super) const REQUEST: u32 = 1;
/// First slot of a thread's asynchronous requests.
pub(super) const FIRST_ASYNC: u32 = 2;
/// Upper bound on outstanding background reads.
pub(super) const BACKGROUND_READS: u32 = 256;
/// Threads between those of clients and those that purge: two of batches, one each of
/// background reads and of the log.
const SERVICE_THREADS: u32 = 4;
/// Alarms in a row without a request after which no request will ever follow. Retries of a
/// thousand clients that sleep for 10 ms reach it within a minute, the server's seconds within
/// seven weeks.
const MOST_IDLE_WAKEUPS: u32 = 1 << 22;

/// Request from the server to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Let a thread work, then call [`Server::computed`].
    ///
    /// [`Server::computed`]: super::Server::computed
    Work {
        /// The thread's number within the server.
        thread: u32,
        /// Processor time.
        time: Nanos,
    },
    /// Submit the command to the device of this number, then call [`Server::completed`].
    ///
    /// [`Server::completed`]: super::Server::completed
    Command(Command, usize),
}

/// Place of the server's files: a device, and their first byte on it. The sum of that and of an
/// offset wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) device: usize,
    pub(super) base_bytes: u64,
}

/// Places of data and logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) data: Place,
    pub(super) log: Place,
    pub(super) binlog: Place,
}

impl Places {
    #[inline]
    fn of(&self, purpose: Purpose) -> Place {
        if purpose.is_of_log() {
            self.log
        } else if purpose.is_of_binlog() {
            self.binlog
        } else {
            self.data
        }
    }
}

/// Purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Nothing,
    /// Read a page into a frame.
    PageRead(u32),
    /// Read a page into a frame for a purge thread.
    PurgeRead(u32),
    /// Read a page into a frame that the pool held before the last shutdown.
    Reload(u32),
    LogWrite(Requester),
    LogSync(Requester),
    /// Write pages of the binary log.
    BinlogWrite(Requester),
    /// Write the file system's journal for the binary log.
    BinlogJournal(Requester),
    BinlogSync(Requester),
    /// Write old pages of the binary log, by the kernel.
    BinlogWriteBack,
    DoublewriteWrite(Requester),
    DoublewriteSync(Requester),
    /// Write a page of a batch, or a client's single page.
    PageWrite(Requester),
    DataSync(Requester),
    /// Read the log during recovery.
    LogRead,
    /// Read a page during recovery.
    Recover(u32),
    /// Write a recovered page for which the pool has no room.
    Recovered,
}

impl Purpose {
    /// Return whether the command goes to the log.
    #[inline]
    pub(super) fn is_of_log(self) -> bool {
        matches!(self, Self::LogWrite(_) | Self::LogSync(_) | Self::LogRead)
    }

    /// Return whether the command goes to the binary log.
    #[inline]
    pub(super) fn is_of_binlog(self) -> bool {
        matches!(self, Self::BinlogWrite(_) | Self::BinlogJournal(_) | Self::BinlogSync(_) | Self::BinlogWriteBack)
    }
}

/// Activity that issues a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requester {
    Client(u32),
    Batch(usize),
    LogThread,
}

/// Timer of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alarm {
    /// A thread's work is done, on a machine without a host model.
    Worked(u32),
    /// A client's think time, keying time, round trip or sleep ends.
    Client(u32),
    /// Period of the page cleaner and the log thread.
    Second,
    /// Next step of a shutdown or a recovery.
    Server,
    /// The thread that reloads the pool resumes.
    Reload,
}

/// Numbers of the server's own threads, after those of its clients.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Threads {
    pub(super) clients: u32,
    pub(super) purgers: u32,
    pub(super) readers: u32,
    /// The log's thread has a slot for the kernel's own writes of the binary log.
    pub(super) writes_back: bool,
}

/// Activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Batch(usize),
    Background,
    Purger(usize),
    Reader(usize),
}

impl Threads {
    /// Slots per thread, where a batch has `batch` pages.
    fn slots(self, batch: u32) -> Vec<u32> {
        let log = FIRST_ASYNC + u32::from(self.writes_back);
        std::iter::repeat_n(FIRST_ASYNC, self.clients as usize)
            .chain([FIRST_ASYNC + batch, FIRST_ASYNC + batch, FIRST_ASYNC + BACKGROUND_READS, log])
            .chain(std::iter::repeat_n(FIRST_ASYNC, self.purgers as usize))
            .chain(std::iter::repeat_n(FIRST_ASYNC + BACKGROUND_READS, self.readers as usize))
            .collect()
    }

    pub(super) fn of(self, requester: Requester) -> u32 {
        match requester {
            Requester::Client(client) => client,
            Requester::Batch(batch) => self.clients + batch as u32,
            Requester::LogThread => self.clients + 3,
        }
    }

    /// Thread of background reads and of the pool's reload.
    pub(super) fn background(self) -> u32 {
        self.clients + 2
    }

    pub(super) fn purger(self, number: usize) -> u32 {
        self.clients + SERVICE_THREADS + number as u32
    }

    pub(super) fn reader(self, number: usize) -> u32 {
        self.purger(self.purgers as usize) + number as u32
    }

    /// Activity of a thread. The log's thread works only during recovery.
    pub(super) fn role(self, thread: u32) -> Role {
        match thread.checked_sub(self.clients) {
            None => Role::Client,
            Some(2) => Role::Background,
            Some(SERVICE_THREADS..) if thread >= self.reader(0) => Role::Reader((thread - self.reader(0)) as usize),
            Some(SERVICE_THREADS..) => Role::Purger((thread - self.purger(0)) as usize),
            Some(batch) => Role::Batch(batch as usize),
        }
    }
}

/// Completed command, as the server sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finished {
    pub(super) purpose: Purpose,
    pub(super) thread: u32,
    pub(super) slot: u32,
}

/// Queue of requests to the kernel, purposes of outstanding commands, and alarms.
#[derive(Debug, Default)]
pub(super) struct Port {
    pub(super) now: Nanos,
    pub(super) threads: Threads,
    /// First job slot of the server among all of the phase.
    base: u64,
    places: Places,
    /// First slot of each thread.
    slots: Vec<u32>,
    purposes: Vec<Purpose>,
    /// Free slots of background reads.
    pub(super) free_slots: Vec<u32>,
    /// Commands that are not complete.
    pub(super) outstanding: u64,
    /// Work that processors have not finished.
    pub(super) working: u32,
    requests: VecDeque<Request>,
    alarms: BinaryHeap<Reverse<(Nanos, u64, Alarm)>>,
    alarm_number: u64,
    /// Alarms since the last request.
    idle_wakeups: u32,
}

impl Port {
    pub(super) fn new(places: Places) -> Self {
        Self { places, ..Self::default() }
    }

    /// Begin a phase, in which the server's first job slot is `base`.
    pub(super) fn rebase(&mut self, now: Nanos, base: usize) {
        (self.now, self.base) = (now, base as u64);
    }

    /// Start the threads of a phase. Return the number of slots of each.
    pub(super) fn begin(&mut self, threads: Threads, batch: u32) -> Vec<u32> {
        self.threads = threads;
        let slots = threads.slots(batch);
        self.slots.clear();
        let mut first = 0;
        for &number in &slots {
            self.slots.push(first);
            first += number;
        }
        self.purposes = vec![Purpose::Nothing; first as usize];
        self.free_all_slots();
        self.alarms.clear();
        slots
    }

    pub(super) fn free_all_slots(&mut self) {
        self.free_slots = (FIRST_ASYNC..FIRST_ASYNC + BACKGROUND_READS).rev().collect();
    }

    /// End the phase: wake-ups count anew.
    pub(super) fn close(&mut self, now: Nanos) {
        (self.now, self.idle_wakeups) = (now, 0);
    }

    /// Return whether alarms have led to no request for so long that none will follow.
    pub(super) fn is_stuck(&self) -> bool {
        self.idle_wakeups > MOST_IDLE_WAKEUPS
    }

    #[inline]
    pub(super) fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    #[inline]
    pub(super) fn request(&mut self) -> Option<Request> {
        self.requests.pop_front()
    }

    pub(super) fn alarm(&mut self, at: Nanos, alarm: Alarm) {
        self.alarm_number += 1;
        self.alarms.push(Reverse((at, self.alarm_number, alarm)));
    }

    /// Time of the next alarm; [`Nanos::MAX`] without one.
    #[inline]
    pub(super) fn next_alarm(&self) -> Nanos {
        self.alarms.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at)
    }

    /// Advance to `now` and take the next alarm.
    pub(super) fn take_alarm(&mut self, now: Nanos) -> Option<Alarm> {
        (self.now, self.idle_wakeups) = (now, self.idle_wakeups.saturating_add(1));
        self.alarms.pop().map(|Reverse((_, _, alarm))| alarm)
    }

    /// Drop all alarms but those that `keep` accepts.
    pub(super) fn keep_alarms(&mut self, keep: impl Fn(Alarm) -> bool) {
        let alarms = std::mem::take(&mut self.alarms);
        self.alarms = alarms.into_iter().filter(|Reverse((_, _, alarm))| keep(*alarm)).collect();
    }

    pub(super) fn work(&mut self, thread: u32, time: Nanos) {
        self.idle_wakeups = 0;
        self.working += 1;
        self.requests.push_back(Request::Work { thread, time });
    }

    /// Finish a thread's work. Return the thread of a job slot.
    pub(super) fn computed(&mut self, now: Nanos, id: u64) -> u32 {
        self.now = now;
        (CommandId::from(id).thread() - self.base as usize) as u32
    }

    /// Send a command from a thread's slot.
    pub(super) fn send(
        &mut self,
        thread: u32,
        slot: u32,
        kind: CommandKind,
        (offset, bytes): (u64, u32),
        purpose: Purpose,
    ) {
        let at = (self.slots[thread as usize] + slot) as usize;
        debug_assert_eq!(self.purposes[at], Purpose::Nothing, "the slot is taken");
        self.purposes[at] = purpose;
        let id = CommandId::new(self.base as usize + thread as usize, slot).into();
        let Place { device, base_bytes } = self.places.of(purpose);
        let offset = if kind == CommandKind::Flush { 0 } else { offset.wrapping_add(base_bytes) };
        (self.outstanding, self.idle_wakeups) = (self.outstanding + 1, 0);
        let command = Command { id, kind, offset_bytes: offset, length_bytes: bytes, fua: false, stream: u16::MAX };
        self.requests.push_back(Request::Command(command, device));
    }

    /// Take a completed command's purpose.
    pub(super) fn completed(&mut self, now: Nanos, id: u64) -> Finished {
        self.now = now;
        self.outstanding -= 1;
        let id = CommandId::from(id);
        let (thread, slot) = ((id.thread() - self.base as usize) as u32, id.slot());
        let at = (self.slots[thread as usize] + slot) as usize;
        let purpose = std::mem::replace(&mut self.purposes[at], Purpose::Nothing);
        Finished { purpose, thread, slot }
    }

    /// Number of outstanding page writes.
    pub(super) fn page_writes(&self) -> u64 {
        self.purposes.iter().filter(|purpose| matches!(purpose, Purpose::PageWrite(_))).count() as u64
    }
}
