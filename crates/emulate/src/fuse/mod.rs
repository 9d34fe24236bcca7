//! Door by FUSE: the drive is one regular file, and a loop device on it is a block device.
//!
//! Requests come over io_uring where the kernel allows that, else by reads of /dev/fuse; one ring
//! waits for both. The thread that made the door is its only user.

mod abi;
mod entries;
mod mount;
mod plain;

use crate::door::{Door, Offer, Request};
use crate::ring::Ring;
use abi::opcode;
use entries::Entries;
use plain::Plain;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use tameshi_base::{CommandKind, Nanos};

/// Largest request in bytes; the kernel splits larger ones, as for a real drive.
const MAX_TRANSFER: u32 = 256 << 10;
/// Tags of plain requests; smaller ones are entries of the ring.
const PLAIN: u32 = 1 << 31;
/// Tokens of the ring: polls of /dev/fuse and of the control socket; others are numbers of entries.
const READABLE: u64 = u64::MAX;
const CONTROL: u64 = u64::MAX - 1;

/// Request of the kernel, decoded.
enum Asked {
    /// For the drive.
    Drive { kind: CommandKind, offset: u64, length: u64 },
    /// Answered here, with these arguments.
    Answered(Result<Answer, i32>),
    /// No answer.
    Silent,
}

/// Arguments of an answer.
struct Answer {
    bytes: [u8; 104],
    length: usize,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let mut answer = Self { bytes: [0; 104], length: bytes.len() };
        answer.bytes[..bytes.len()].copy_from_slice(bytes);
        answer
    }
}

/// FUSE connection.
pub(crate) struct Fuse {
    fd: OwnedFd,
    ring: Ring,
    entries: Option<Entries>,
    plain: Plain,
    offer: Offer,
    /// Use the kernel's ring if it offers one.
    wants_ring: bool,
    /// A request may be readable from /dev/fuse.
    is_readable: bool,
    is_polling: bool,
    control: RawFd,
    control_ready: bool,
    control_polling: bool,
    is_closed: bool,
}

impl Fuse {
    /// Mount a drive on the file at `path`; `control` is polled as well.
    pub(crate) fn mount(path: &Path, source: &str, offer: Offer, wants_ring: bool, control: RawFd) -> io::Result<Self> {
        let queues = entries::possible_processors();
        let depth = entries::depth(queues);
        let ring = Ring::new(queues * depth + 8)?;
        let plain = Plain::new(MAX_TRANSFER)?;
        let fd = mount::mount(path, source)?;
        Ok(Self {
            fd,
            ring,
            entries: None,
            plain,
            offer,
            wants_ring,
            is_readable: true,
            is_polling: false,
            control,
            control_ready: true,
            control_polling: false,
            is_closed: false,
        })
    }

    /// Poll the descriptors that are not polled.
    fn arm(&mut self) -> io::Result<()> {
        if !self.is_polling && !self.is_readable {
            self.ring.poll(self.fd.as_raw_fd(), libc::POLLIN, READABLE)?;
            self.is_polling = true;
        }
        if !self.control_polling && !self.control_ready {
            self.ring.poll(self.control, libc::POLLIN, CONTROL)?;
            self.control_polling = true;
        }
        Ok(())
    }

    fn reap(&mut self, arrivals: &mut Vec<Request>) -> io::Result<()> {
        while let Some((token, result)) = self.ring.next() {
            match token {
                READABLE => (self.is_polling, self.is_readable) = (false, true),
                CONTROL => (self.control_polling, self.control_ready) = (false, true),
                entry if result < 0 => self.entry_failed(entry as u32, -result)?,
                entry => self.arrived(entry as u32, arrivals)?,
            }
        }
        Ok(())
    }

    /// Handle an entry that the kernel gave back without a request.
    fn entry_failed(&mut self, number: u32, error: i32) -> io::Result<()> {
        match error {
            libc::ENOTCONN | libc::ECONNABORTED | libc::ECANCELED | libc::ENODEV => self.is_closed = true,
            // The entry is free for the next request of its queue.
            libc::EAGAIN | libc::EINTR => self.register(number)?,
            _ => return Err(io::Error::from_raw_os_error(error)),
        }
        Ok(())
    }

    fn register(&mut self, number: u32) -> io::Result<()> {
        let Some(entries) = &self.entries else { return Ok(()) };
        self.ring.push(&entries.register(self.fd.as_raw_fd(), number))
    }

    /// Decode the request of a ring entry.
    fn arrived(&mut self, number: u32, arrivals: &mut Vec<Request>) -> io::Result<()> {
        let Some(entries) = &mut self.entries else { return Ok(()) };
        entries.accept(number);
        let header = entries.header(number);
        let asked = asked(abi::u32_at(header, 4), &header[abi::ENTRY_ARGUMENTS..], self.offer);
        match asked {
            Asked::Drive { kind, offset, length } => arrivals.push(Request { tag: number, kind, offset, length }),
            Asked::Answered(Ok(answer)) => self.answer(number, 0, &answer.bytes[..answer.length])?,
            Asked::Answered(Err(error)) => self.answer(number, error, &[])?,
            Asked::Silent => self.answer(number, 0, &[])?,
        }
        Ok(())
    }

    /// Answer an entry with arguments, or with data of `payload` bytes already in place.
    fn answer(&mut self, number: u32, error: i32, arguments: &[u8]) -> io::Result<()> {
        let Some(entries) = &mut self.entries else { return Ok(()) };
        entries.payload(number)[..arguments.len()].copy_from_slice(arguments);
        let entry = entries.commit(self.fd.as_raw_fd(), number, error, arguments.len());
        self.ring.push(&entry)
    }

    /// Read requests from /dev/fuse until there is none.
    fn read(&mut self, arrivals: &mut Vec<Request>) -> io::Result<()> {
        while self.is_readable && !self.is_closed {
            let Some(slot) = self.plain.take() else { return Ok(()) };
            match self.plain.read(&self.fd, slot) {
                Ok(length) => self.decode(slot, length, arrivals)?,
                Err(error) => {
                    self.plain.release(slot);
                    match error.raw_os_error() {
                        Some(libc::EAGAIN) => self.is_readable = false,
                        Some(libc::EINTR | libc::ENOENT) => {}
                        Some(libc::ENODEV) => self.is_closed = true,
                        _ => return Err(error),
                    }
                }
            }
        }
        Ok(())
    }

    fn decode(&mut self, slot: u32, length: usize, arrivals: &mut Vec<Request>) -> io::Result<()> {
        let header = self.plain.header(slot);
        let (code, unique) = (abi::u32_at(header, 4), abi::u64_at(header, 8));
        if code == opcode::INIT {
            return self.init(slot, length, unique);
        }
        match asked(code, &header[abi::IN_HEADER..], self.offer) {
            Asked::Drive { kind, offset, length } => {
                arrivals.push(Request { tag: PLAIN | slot, kind, offset, length });
                return Ok(());
            }
            Asked::Answered(Ok(answer)) => self.plain.answer(&self.fd, slot, 0, &answer.bytes[..answer.length])?,
            Asked::Answered(Err(error)) => self.plain.answer(&self.fd, slot, error, &[])?,
            Asked::Silent => {}
        }
        self.plain.release(slot);
        Ok(())
    }

    /// Agree on the protocol, and register the ring's entries.
    fn init(&mut self, slot: u32, length: usize, unique: u64) -> io::Result<()> {
        let body = self.plain.init_body(slot, length);
        let (major, offered) = (abi::u32_at(&body, 0), abi::u32_at(&body, 12));
        if major != abi::MAJOR {
            return Err(io::Error::other(format!("the kernel speaks FUSE {major}, not {}", abi::MAJOR)));
        }
        let more = if abi::has_more_flags(offered) { abi::u32_at(&body, 16) } else { 0 };
        let over_ring = self.wants_ring && more & abi::OVER_IO_URING != 0;
        let entries = if over_ring { Some(Entries::new(MAX_TRANSFER)?) } else { None };
        let answer = abi::init_out(offered, more, MAX_TRANSFER, over_ring);
        debug_assert_eq!(unique, abi::u64_at(self.plain.header(slot), 8));
        self.plain.answer(&self.fd, slot, 0, &answer)?;
        self.plain.release(slot);
        let count = entries.as_ref().map_or(0, Entries::count);
        self.entries = entries;
        (0..count).try_for_each(|number| self.register(number))
    }
}

impl Door for Fuse {
    #[inline]
    fn collect(&mut self, arrivals: &mut Vec<Request>) -> io::Result<()> {
        self.ring.run()?;
        self.reap(arrivals)?;
        if self.is_readable {
            self.read(arrivals)?;
        }
        self.arm()
    }

    fn payload(&mut self, tag: u32) -> &mut [u8] {
        match (tag & PLAIN, &mut self.entries) {
            (0, Some(entries)) => entries.payload(tag),
            _ => self.plain.payload(tag & !PLAIN),
        }
    }

    fn complete(&mut self, tag: u32, result: Result<u32, i32>) -> io::Result<()> {
        if tag & PLAIN != 0 {
            let slot = tag & !PLAIN;
            self.plain.complete(&self.fd, slot, result)?;
            self.plain.release(slot);
            return Ok(());
        }
        let Some(entries) = &mut self.entries else { return Ok(()) };
        let is_read = abi::u32_at(entries.header(tag), 4) == opcode::READ;
        match result {
            Err(error) => self.answer(tag, error, &[]),
            Ok(bytes) if is_read => {
                let entry = entries.commit(self.fd.as_raw_fd(), tag, 0, bytes as usize);
                self.ring.push(&entry)
            }
            Ok(bytes) if abi::u32_at(entries.header(tag), 4) == opcode::WRITE => {
                self.answer(tag, 0, &abi::write_out(bytes))
            }
            Ok(_) => self.answer(tag, 0, &[]),
        }
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()
    }

    fn wait(&mut self, patience: Option<Nanos>) -> io::Result<()> {
        self.arm()?;
        // All requests that the plain door can hold are under way: only an answer helps.
        self.ring.wait(patience)
    }

    fn take_control(&mut self) -> bool {
        std::mem::take(&mut self.control_ready)
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn name(&self) -> &'static str {
        if self.entries.is_some() { "ring" } else { "plain" }
    }
}

/// Decode a request by its opcode and arguments.
fn asked(code: u32, arguments: &[u8], offer: Offer) -> Asked {
    let answered = |bytes: &[u8]| Asked::Answered(Ok(Answer::of(bytes)));
    match code {
        opcode::READ | opcode::WRITE => {
            let kind = if code == opcode::READ { CommandKind::Read } else { CommandKind::Write };
            let (offset, length) = (abi::u64_at(arguments, 8), u64::from(abi::u32_at(arguments, 16)));
            Asked::Drive { kind, offset, length }
        }
        opcode::FSYNC => Asked::Drive { kind: CommandKind::Flush, offset: 0, length: 0 },
        opcode::FALLOCATE => {
            let (offset, length) = (abi::u64_at(arguments, 8), abi::u64_at(arguments, 16));
            let mode = abi::u32_at(arguments, 24) as i32;
            let kept = libc::FALLOC_FL_KEEP_SIZE;
            let clears = [libc::FALLOC_FL_PUNCH_HOLE | kept, libc::FALLOC_FL_ZERO_RANGE | kept].contains(&mode);
            if clears && offer.trims {
                return Asked::Drive { kind: CommandKind::Trim, offset, length };
            }
            Asked::Answered(Err(libc::EOPNOTSUPP))
        }
        opcode::GETATTR => answered(&abi::attr_out(offer.bytes)),
        opcode::SETATTR if abi::u32_at(arguments, 0) & abi::SETATTR_SIZE != 0 => Asked::Answered(Err(libc::EPERM)),
        opcode::SETATTR => answered(&abi::attr_out(offer.bytes)),
        opcode::OPEN => answered(&abi::open_out()),
        opcode::STATFS => answered(&abi::statfs_out(offer.bytes)),
        opcode::RELEASE | opcode::FLUSH | opcode::DESTROY => answered(&[]),
        opcode::FORGET | opcode::BATCH_FORGET | opcode::INTERRUPT => Asked::Silent,
        _ => Asked::Answered(Err(libc::ENOSYS)),
    }
}
