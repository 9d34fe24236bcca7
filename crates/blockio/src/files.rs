//! Calls on files: allocation, length, and the files of a directory.

use crate::error::BlockError;
use crate::target::Target;
use std::ffi::CStr;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;
use tameshi_base::{CommandKind, Random};
use tameshi_record::{Control, Progress, RunStatus};
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{PhaseStream, RunSpec};
use tameshi_workload::FileCall;

/// Punch a hole: the file keeps its length, and the range reads as zeros and frees its space.
pub(crate) const HOLE: libc::c_int = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// Effect of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOperation {
    /// Allocate space for a range; `keep`: without changing the file's length.
    Allocate { keep: bool },
    /// Free a range's space.
    Deallocate,
    /// Set the file's length.
    Truncate,
    /// Exchange a range with the donor's.
    MoveExtents,
    /// Create or open a file of a directory, and close it.
    Create,
    /// Query the status of a file of a directory.
    Stat,
    /// Delete a file of a directory.
    Delete,
}

impl FileOperation {
    /// Operation of a command of a stream of such calls.
    pub(crate) fn of(call: FileCall, kind: CommandKind) -> Self {
        match call {
            FileCall::Allocate if kind == CommandKind::Trim => Self::Deallocate,
            FileCall::Allocate => Self::Allocate { keep: kind == CommandKind::Read },
            FileCall::Truncate => Self::Truncate,
            FileCall::MoveExtents => Self::MoveExtents,
            FileCall::Create => Self::Create,
            FileCall::Stat => Self::Stat,
            FileCall::Delete => Self::Delete,
        }
    }

    /// Return whether it works on a file of a directory.
    pub(crate) fn in_directory(self) -> bool {
        matches!(self, Self::Create | Self::Stat | Self::Delete)
    }

    /// Name in errors.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Allocate { .. } => "allocation",
            Self::Deallocate => "deallocation",
            Self::Truncate => "truncation",
            Self::MoveExtents => "move of extents",
            Self::Create => "creation",
            Self::Stat => "stat",
            Self::Delete => "deletion",
        }
    }

    /// Perform the operation on an open file or directory; return zero, or -1 with `errno` set.
    pub(crate) fn perform(self, fd: RawFd, donor: Option<&Donor>, offset: u64, length: u64) -> isize {
        let (begin, bytes) = (offset as libc::off_t, length as libc::off_t);
        // SAFETY: these take numbers only.
        let done = unsafe {
            match self {
                Self::Allocate { keep } => {
                    libc::fallocate(fd, if keep { libc::FALLOC_FL_KEEP_SIZE } else { 0 }, begin, bytes)
                }
                Self::Deallocate => libc::fallocate(fd, HOLE, begin, bytes),
                Self::Truncate => libc::ftruncate(fd, begin),
                Self::MoveExtents => donor.map_or(-1, |donor| donor.give(fd, offset, length)),
                Self::Create | Self::Stat | Self::Delete => self.on_file(fd, offset / length.max(1)),
            }
        };
        done as isize
    }

    fn on_file(self, directory: RawFd, number: u64) -> libc::c_int {
        let mut buffer = [0; NAME_BYTES];
        let name = name_of(number, &mut buffer).as_ptr();
        // SAFETY: `name` ends with a zero byte, and `status` is valid for writes of a `stat`.
        unsafe {
            match self {
                Self::Create => match libc::openat(directory, name, MAKE, 0o600) {
                    -1 => -1,
                    file => libc::close(file),
                },
                Self::Stat => {
                    let mut status = MaybeUninit::<libc::stat>::uninit();
                    libc::fstatat(directory, name, status.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW)
                }
                _ => libc::unlinkat(directory, name, 0),
            }
        }
    }
}

/// File whose extents a queue's requests move; open as long as the queue.
pub(crate) struct Donor {
    fd: OwnedFd,
    block_bytes: u64,
    in_place: bool,
}

/// `struct move_extent` of Linux's ext4, in blocks.
#[repr(C)]
struct MoveExtent {
    reserved: u32,
    donor_fd: u32,
    orig_start: u64,
    donor_start: u64,
    len: u64,
    moved_len: u64,
}

/// Retries while a range is in use, and the pause between them: one second in all.
const BUSY_TRIES: u32 = 5000;
const BUSY_PAUSE: Duration = Duration::from_micros(200);
/// `_IOWR('f', 15, struct move_extent)`
const EXT4_IOC_MOVE_EXT: libc::Ioctl = 0xC028_660F;

impl Donor {
    /// Prepare an open donor. Unless it allocates space `in_place`, allocate `bytes` from `offset`.
    pub(crate) fn new(fd: OwnedFd, offset: u64, bytes: u64, in_place: bool) -> io::Result<Self> {
        let mut system = MaybeUninit::<libc::statfs>::zeroed();
        // SAFETY: the pointer is to a structure of this function.
        let known = unsafe { libc::fstatfs(fd.as_raw_fd(), system.as_mut_ptr()) } == 0;
        // SAFETY: zeroed before, and plain numbers.
        let block_bytes = unsafe { system.assume_init() }.f_bsize as u64;
        if !known || block_bytes == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: takes numbers only.
        if !in_place && unsafe { libc::fallocate(fd.as_raw_fd(), 0, offset as libc::off_t, bytes as libc::off_t) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { fd, block_bytes, in_place })
    }

    /// Move a range of the donor to the same place of `file`, as far as it accepts.
    fn give(&self, file: RawFd, offset: u64, length: u64) -> libc::c_int {
        let donor = self.fd.as_raw_fd();
        let (begin, bytes) = (offset as libc::off_t, length as libc::off_t);
        // SAFETY: takes numbers only.
        if self.in_place && unsafe { libc::fallocate(donor, 0, begin, bytes) } < 0 {
            return -1;
        }
        let (mut at, mut left, mut patience) = (offset / self.block_bytes, length / self.block_bytes, BUSY_TRIES);
        let moved = loop {
            let mut range = MoveExtent {
                reserved: 0,
                donor_fd: donor as u32,
                orig_start: at,
                donor_start: at,
                len: left,
                moved_len: 0,
            };
            // SAFETY: the request reads and writes this structure.
            let done = unsafe { libc::ioctl(file, EXT4_IOC_MOVE_EXT, &mut range) };
            (at, left) = (at + range.moved_len, left.saturating_sub(range.moved_len));
            // A page of the range is in use: being written back or read into the page cache. Empty
            // the cache.
            if done < 0 && patience > 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EBUSY) {
                patience -= 1;
                for fd in [file, donor] {
                    // SAFETY: takes numbers only; it is advice, and may fail.
                    unsafe { libc::posix_fadvise(fd, begin, bytes, libc::POSIX_FADV_DONTNEED) };
                }
                std::thread::sleep(BUSY_PAUSE);
                continue;
            }
            if done < 0 || left == 0 || range.moved_len == 0 {
                break done;
            }
        };
        if self.in_place && moved >= 0 {
            // SAFETY: takes numbers only.
            return unsafe { libc::fallocate(donor, HOLE, begin, bytes) };
        }
        moved
    }
}

const MAKE: libc::c_int = libc::O_CREAT | libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC;
/// Digits of the largest number and a zero byte.
const NAME_BYTES: usize = 24;
/// Files between two checks for a stop.
const LOOK: u64 = 256;

/// Name of file `number` of a directory.
fn name_of(number: u64, buffer: &mut [u8; NAME_BYTES]) -> &CStr {
    write!(&mut buffer[..], "{number}").expect("there is room for every number");
    CStr::from_bytes_until_nul(buffer).expect("there is room for a zero byte, too")
}

fn streams<'a>(spec: &'a RunSpec, storage: &'a str) -> impl Iterator<Item = &'a PhaseStream> {
    spec.phases.iter().flat_map(|phase| &phase.streams).filter(move |stream| stream.storage == storage)
}

/// Return whether a stream of the run uses the storage as a directory of files.
pub fn holds_files(spec: &RunSpec, storage: &str) -> bool {
    streams(spec, storage).any(|stream| stream.stream.call.is_some_and(FileCall::in_directory))
}

/// Refusals of streams that use a directory of files as a single file, or with other file lengths.
pub(crate) fn refusals(spec: &RunSpec, storage: &str) -> Vec<Refusal> {
    let is_one = |stream: &&PhaseStream| stream.stream.call.is_some_and(FileCall::in_directory);
    let Some(first) = streams(spec, storage).find(is_one) else { return Vec::new() };
    let others = streams(spec, storage).filter_map(|other| {
        let why = if !is_one(&other) {
            "reads and writes one file"
        } else if other.stream.block_size != first.stream.block_size {
            "has files of another length (`block_size`)"
        } else {
            return None;
        };
        let name = &first.name;
        let message = format!("it is a directory to stream `{name}`, and stream `{}` {why}", other.name);
        Some(Refusal::new("directory", &["storage", storage], message))
    });
    others.collect()
}

/// Write the files of a directory that streams of the run query or delete before any stream creates
/// them. Shows progress in `control` (bytes written), and stops if asked.
///
/// # Errors
/// A file that can't be created or written.
pub fn lay_out_files(
    spec: &RunSpec,
    storage: &str,
    target: &Target,
    control: &Control,
) -> Result<RunStatus, BlockError> {
    let mut random = Random::named(spec.seed, &format!("files/{storage}"));
    let (mut written, mut content) = (0u64, Vec::new());
    for number in wanted(spec, storage) {
        let length = streams(spec, storage).next().map_or(0, |stream| stream.stream.block_size.0);
        if number % LOOK == 0 {
            if control.is_stopping() {
                return Ok(RunStatus::Partial);
            }
            let shown = control.progress();
            control.show(Progress { bytes_written: written, ..shown });
        }
        content.clear();
        content.extend((0..length.div_ceil(8)).flat_map(|_| random.bits().to_le_bytes()));
        let made = make(target.fd.as_raw_fd(), number, &content[..length as usize]);
        made.map_err(|error| BlockError::system(format!("writing file {number} of storage `{storage}`"), error))?;
        written += length;
    }
    Ok(RunStatus::Complete)
}

/// Numbers of the files that must exist before the run.
fn wanted(spec: &RunSpec, storage: &str) -> Vec<u64> {
    let bytes = spec.storage[storage].size.0;
    let Some(length) = streams(spec, storage).next().map(|stream| stream.stream.block_size.0) else {
        return Vec::new();
    };
    let mut known = vec![false; usize::try_from(bytes / length).unwrap_or(0)];
    let mut wanted = Vec::new();
    for stream in streams(spec, storage) {
        let part = stream.stream.part(bytes);
        for number in part.start / length..part.end / length {
            if !std::mem::replace(&mut known[number as usize], true) && stream.stream.call != Some(FileCall::Create) {
                wanted.push(number);
            }
        }
    }
    wanted
}

fn make(directory: RawFd, number: u64, content: &[u8]) -> io::Result<()> {
    let mut buffer = [0; NAME_BYTES];
    let name = name_of(number, &mut buffer).as_ptr();
    // SAFETY: `name` ends with a zero byte.
    let fd = unsafe { libc::openat(directory, name, MAKE, 0o600) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut rest = content;
    while !rest.is_empty() {
        // SAFETY: the buffer has `rest.len()` bytes.
        let written = unsafe { libc::write(file.as_raw_fd(), rest.as_ptr().cast(), rest.len()) };
        if written < 0 {
            return Err(io::Error::last_os_error());
        }
        rest = &rest[written as usize..];
    }
    Ok(())
}
