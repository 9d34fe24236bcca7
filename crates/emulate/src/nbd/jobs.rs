//! Requests of clients under way. Each is cut into pieces as the kernel cuts a block device's.

use super::wire::{self, Asked, command};
use crate::door::{Offer, Request};
use crate::mapping::Mapping;
use std::io;
use tameshi_base::CommandKind;

/// Most bytes of a request, and of a piece of it.
pub(super) const MOST: u32 = 2 << 20;
const PIECE: u32 = 256 << 10;
/// Requests under way.
const JOBS: u32 = 128;
/// Place of the job's number in a tag, above that of the piece.
const JOB_SHIFT: u32 = 3;

/// Request of a client.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// Number of the connection.
    client: u64,
    asked: Asked,
    /// Bytes of zeros that are not written yet, from this place.
    zeros: (u64, u64),
    /// Pieces under way.
    pieces: u32,
    error: i32,
    /// The answer waits for a flush.
    has_flush_ahead: bool,
}

/// Step after a piece of a job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Others are under way, or have been started.
    Wait,
    /// The client gets its answer: its connection, reply header and bytes of data.
    Answer { client: u64, header: [u8; wire::REPLY_BYTES], bytes: usize },
}

/// Requests under way, with their data.
pub(super) struct Jobs {
    jobs: Vec<Option<Job>>,
    free: Vec<u32>,
    data: Mapping,
}

impl Jobs {
    pub(super) fn new() -> io::Result<Self> {
        let data = Mapping::anonymous((JOBS * MOST) as usize)?;
        Ok(Self { jobs: vec![None; JOBS as usize], free: (0..JOBS).rev().collect(), data })
    }

    /// Take a place for a request.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    pub(super) fn release(&mut self, number: u32) {
        self.jobs[number as usize] = None;
        self.free.push(number);
    }

    /// Return the data of a request.
    pub(super) fn data(&mut self, number: u32, bytes: usize) -> &mut [u8] {
        self.data.bytes_mut((number * MOST) as usize, bytes)
    }

    /// Return the data of a piece, to the end of its request's room.
    pub(super) fn payload(&mut self, tag: u32) -> &mut [u8] {
        let (number, piece) = (tag >> JOB_SHIFT, tag & ((1 << JOB_SHIFT) - 1));
        self.data.bytes_mut((number * MOST + piece * PIECE) as usize, PIECE as usize)
    }

    /// Start a request whose data are in place; its pieces go to `arrivals`. Returns what follows
    /// if it needs none.
    pub(super) fn start(
        &mut self,
        number: u32,
        client: u64,
        asked: Asked,
        offer: &Offer,
        arrivals: &mut Vec<Request>,
    ) -> After {
        let mut job = Job { client, asked, zeros: (0, 0), pieces: 0, error: 0, has_flush_ahead: false };
        let (offset, length) = (asked.offset, u64::from(asked.length));
        let end = offset.checked_add(length);
        let changes = asked.command != command::READ;
        job.has_flush_ahead = changes && asked.flags & command::FUA != 0 && offer.flushes;
        let kept = asked.flags & command::NO_HOLE != 0;
        match asked.command {
            command::FLUSH => job.has_flush_ahead = offer.flushes,
            _ if length == 0 => job.error = libc::EINVAL,
            _ if end.is_none_or(|end| end > offer.bytes) => {
                job.error = if changes { libc::ENOSPC } else { libc::EINVAL };
            }
            command::READ => job.pieces = pieces(number, CommandKind::Read, (offset, length), arrivals),
            command::WRITE => job.pieces = pieces(number, CommandKind::Write, (offset, length), arrivals),
            command::TRIM | command::WRITE_ZEROES if offer.trims && !kept => {
                let tag = number << JOB_SHIFT;
                arrivals.push(Request { tag, kind: CommandKind::Trim, offset, length });
                job.pieces = 1;
            }
            command::WRITE_ZEROES => job.zeros = (offset, length),
            _ => job.error = libc::EINVAL,
        }
        self.jobs[number as usize] = Some(job);
        self.next(number, arrivals)
    }

    /// Note the end of a piece; more pieces go to `arrivals`.
    pub(super) fn ended(&mut self, tag: u32, result: Result<u32, i32>, arrivals: &mut Vec<Request>) -> After {
        let number = tag >> JOB_SHIFT;
        let Some(job) = &mut self.jobs[number as usize] else { return After::Wait };
        job.pieces -= 1;
        if let (Err(error), 0) = (result, job.error) {
            job.error = error;
        }
        self.next(number, arrivals)
    }

    /// Continue with what is left of a job, or end it.
    fn next(&mut self, number: u32, arrivals: &mut Vec<Request>) -> After {
        let Some(mut job) = self.jobs[number as usize] else { return After::Wait };
        if job.pieces > 0 {
            return After::Wait;
        }
        if job.error == 0 && job.zeros.1 > 0 {
            let (offset, left) = job.zeros;
            let length = left.min(u64::from(MOST));
            self.data(number, length as usize).fill(0);
            job.zeros = (offset + length, left - length);
            job.pieces = pieces(number, CommandKind::Write, (offset, length), arrivals);
        } else if job.error == 0 && std::mem::take(&mut job.has_flush_ahead) {
            arrivals.push(Request { tag: number << JOB_SHIFT, kind: CommandKind::Flush, offset: 0, length: 0 });
            job.pieces = 1;
        } else {
            let is_read = job.asked.command == command::READ && job.error == 0;
            let bytes = if is_read { job.asked.length as usize } else { 0 };
            return After::Answer {
                client: job.client,
                header: wire::reply_header(job.error, job.asked.cookie),
                bytes,
            };
        }
        self.jobs[number as usize] = Some(job);
        After::Wait
    }
}

/// Return the number of the job of a piece.
pub(super) fn job_of(tag: u32) -> u32 {
    tag >> JOB_SHIFT
}

/// Cut a request into pieces; return their number.
fn pieces(number: u32, kind: CommandKind, (offset, length): (u64, u64), arrivals: &mut Vec<Request>) -> u32 {
    let starts = (0..length).step_by(PIECE as usize).zip(number << JOB_SHIFT..);
    arrivals.extend(starts.map(|(start, tag)| {
        let length = u64::from(PIECE).min(length - start);
        Request { tag, kind, offset: offset + start, length }
    }));
    length.div_ceil(u64::from(PIECE)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: Offer = Offer { bytes: 1 << 30, trims: true, flushes: true, is_rotational: false };

    fn ask(command: u16, flags: u16, offset: u64, length: u32) -> Asked {
        Asked { flags, command, cookie: 7, offset, length }
    }

    /// Run a request alone; return the requests that it became, in rounds, and its error.
    fn run(asked: Asked, offer: &Offer, fail: bool) -> (Vec<Vec<Request>>, i32) {
        let (mut jobs, mut rounds) = (Jobs::new().expect("memory"), Vec::new());
        let number = jobs.take().expect("a place");
        let mut arrivals = Vec::new();
        let mut after = jobs.start(number, 1, asked, offer, &mut arrivals);
        while after == After::Wait {
            let round = std::mem::take(&mut arrivals);
            for request in &round {
                assert_eq!(after, After::Wait);
                let result = if fail { Err(libc::EIO) } else { Ok(0) };
                after = jobs.ended(request.tag, result, &mut arrivals);
            }
            rounds.push(round);
        }
        let After::Answer { header, .. } = after else { unreachable!() };
        (rounds, wire::u32_at(&header, 4) as i32)
    }

    #[test]
    fn large_write_becomes_pieces_and_ends_once() {
        let (rounds, error) = run(ask(command::WRITE, 0, 4096, MOST), &OFFER, false);
        assert_eq!((rounds.len(), rounds[0].len(), error), (1, 8, 0));
        assert_eq!(rounds[0].iter().map(|request| request.length).sum::<u64>(), u64::from(MOST));
        assert_eq!(rounds[0][7].offset, 4096 + 7 * u64::from(PIECE));
    }

    #[test]
    fn forced_write_is_followed_by_a_flush_if_the_drive_needs_one() {
        let forced = ask(command::WRITE, command::FUA, 0, 4096);
        let (rounds, _) = run(forced, &OFFER, false);
        assert_eq!(rounds[1][0].kind, CommandKind::Flush);
        assert_eq!(run(forced, &Offer { flushes: false, ..OFFER }, false).0.len(), 1);
        let (rounds, error) = run(forced, &OFFER, true);
        assert_eq!((rounds.len(), error), (1, libc::EIO), "a failed write is not flushed");
    }

    #[test]
    fn zeros_are_a_trim_or_are_written() {
        let zeros = ask(command::WRITE_ZEROES, 0, 0, 5 << 20);
        assert_eq!(run(zeros, &OFFER, false).0[0][0].kind, CommandKind::Trim);
        for (flags, offer) in [(command::NO_HOLE, OFFER), (0, Offer { trims: false, ..OFFER })] {
            let (rounds, error) = run(Asked { flags, ..zeros }, &offer, false);
            assert!(error == 0 && rounds.iter().flatten().all(|request| request.kind == CommandKind::Write));
            assert_eq!(rounds.iter().flatten().map(|request| request.length).sum::<u64>(), 5 << 20);
        }
    }

    #[test]
    fn bad_requests_are_answered_without_the_drive() {
        let cases = [
            (ask(command::READ, 0, 1 << 30, 512), libc::EINVAL),
            (ask(command::WRITE, 0, 1 << 30, 512), libc::ENOSPC),
            (ask(command::WRITE, 0, u64::MAX, 512), libc::ENOSPC),
            (ask(command::READ, 0, 0, 0), libc::EINVAL),
            (ask(9, 0, 0, 512), libc::EINVAL),
        ];
        for (asked, error) in cases {
            assert_eq!(run(asked, &OFFER, false), (vec![], error), "{asked:?}");
        }
        let none = Offer { trims: false, ..OFFER };
        assert_eq!(run(ask(command::TRIM, 0, 0, 512), &none, false), (vec![], libc::EINVAL));
    }
}
