//! After a run, and whatever ended it: does a storage hold what the journal says? Nothing is written.

use crate::error::BlockError;
use crate::target::Target;
use crate::verify::{BLOCK, Held, held};
use serde::Serialize;
use std::io;
use std::os::fd::AsRawFd;
use tameshi_record::journal::{CHECKED_BYTES, Journal, Written};

/// Bytes that one call reads.
const CHUNK: usize = 256 * BLOCK;

/// What a block turned out to be that should hold something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Verdict {
    /// What was made durable is gone, or an older write is there.
    Lost,
    /// What was acknowledged but never made durable is gone: a power cut may do that, a crash of a program may not.
    Unsynced,
    /// Its checksum does not match, and a write was under way at the end.
    Torn,
    /// Its checksum does not match, and nothing was under way.
    Corrupt,
    /// A whole block of this run that belongs elsewhere.
    Misplaced,
}

impl From<Verdict> for &'static str {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Lost => "lost",
            Verdict::Unsynced => "unsynced",
            Verdict::Torn => "torn",
            Verdict::Corrupt => "corrupt",
            Verdict::Misplaced => "misplaced",
        }
    }
}

/// A block that does not hold what was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its first byte, from the payload's begin.
    pub offset_bytes: u64,
    /// What became of it.
    pub verdict: Verdict,
    /// The write it holds, if any.
    pub found: Option<u64>,
    /// Where a misplaced block belongs.
    pub belongs_bytes: Option<u64>,
    /// The write it should hold at least.
    pub acknowledged: u64,
    /// The write that was made durable last.
    pub durable: u64,
}

/// What a storage holds of what a journal says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// Blocks that the run wrote.
    pub written: u64,
    /// Those that hold the last acknowledged write or a later one, or where none was acknowledged, what was there before.
    pub right: u64,
    /// The others, in the order of their offsets.
    pub findings: Vec<Finding>,
}

/// Reads every block of the journal's storage, those that the run never wrote too, and compares. Nothing is written.
///
/// # Errors
/// When the target can't be read.
pub fn examine(journal: &Journal, target: &Target) -> Result<Examined, BlockError> {
    let mut examined = Examined::default();
    let mut chunk = Chunk::new();
    let end = journal.blocks() * CHECKED_BYTES;
    for begin in (0..end).step_by(CHUNK) {
        let length = CHUNK.min((end - begin) as usize);
        let blocks = &mut chunk.bytes()[..length];
        read(target, begin, blocks)?;
        for (block, offset) in blocks.chunks_exact_mut(BLOCK).zip((begin..).step_by(BLOCK)) {
            let written = journal.written(offset / CHECKED_BYTES);
            let finding = judge(held(block, journal.generation(), offset), written);
            examined.written += u64::from(written.issued > 0);
            examined.right += u64::from(written.issued > 0 && finding.is_none());
            examined.findings.extend(finding.map(|(verdict, held)| Finding {
                offset_bytes: offset,
                verdict,
                found: if let Held::Write(sequence) = held { Some(sequence) } else { None },
                belongs_bytes: if let Held::Misplaced(belongs) = held { Some(belongs) } else { None },
                acknowledged: written.acknowledged,
                durable: written.durable,
            }));
        }
    }
    Ok(examined)
}

fn judge(held: Held, written: Written) -> Option<(Verdict, Held)> {
    let found = match held {
        Held::Write(sequence) => sequence,
        Held::Nothing | Held::Foreign => 0,
        Held::Misplaced(_) => return Some((Verdict::Misplaced, held)),
        // What this run never touched is not its own to judge.
        Held::Broken if written.issued == 0 => return None,
        Held::Broken if written.issued > written.acknowledged => return Some((Verdict::Torn, held)),
        Held::Broken => return Some((Verdict::Corrupt, held)),
    };
    if found < written.durable {
        Some((Verdict::Lost, held))
    } else if found < written.acknowledged {
        Some((Verdict::Unsynced, held))
    } else {
        None
    }
}

/// Memory that can be read into past the page cache.
struct Chunk(Vec<Page>);

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; BLOCK]);

impl Chunk {
    fn new() -> Self {
        Self(vec![Page([0; BLOCK]); CHUNK / BLOCK])
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: pages are bytes, one behind the other without a gap.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), CHUNK) }
    }
}

fn read(target: &Target, offset: u64, bytes: &mut [u8]) -> Result<(), BlockError> {
    let length = bytes.len();
    let failed = |error| BlockError::system(format!("reading {length} bytes at offset {offset}"), error);
    let place = target.payload().place(offset, length as u64);
    let place = place.ok_or_else(|| failed(io::Error::other("the target is shorter than the journal's storage")))?;
    let mut done = 0;
    while done < length {
        let rest = &mut bytes[done..];
        let at = (place + done as u64) as libc::off_t;
        // SAFETY: the buffer is borrowed mutably and has so many bytes left.
        let got = unsafe { libc::pread(target.fd.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len(), at) };
        match got {
            0 => return Err(failed(io::Error::other("the target ends there"))),
            1.. => done += got as usize,
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(failed(error)),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_crash_each_block_is_judged_by_what_was_promised() {
        let of = |issued, acknowledged, durable| Written { issued, acknowledged, durable };
        let verdict = |held, written| judge(held, written).map(|(verdict, _)| verdict);
        assert_eq!(verdict(Held::Write(5), of(5, 5, 5)), None);
        assert_eq!(verdict(Held::Write(6), of(6, 5, 5)), None, "under way and arrived");
        assert_eq!(verdict(Held::Write(5), of(6, 5, 5)), None, "under way and not arrived");
        assert_eq!(verdict(Held::Write(4), of(5, 5, 3)), Some(Verdict::Unsynced));
        assert_eq!(verdict(Held::Write(2), of(5, 5, 3)), Some(Verdict::Lost));
        assert_eq!(verdict(Held::Nothing, of(5, 0, 0)), None, "never acknowledged");
        assert_eq!(verdict(Held::Nothing, of(0, 0, 0)), None, "never written");
        assert_eq!(verdict(Held::Nothing, of(5, 5, 0)), Some(Verdict::Unsynced));
        assert_eq!(verdict(Held::Foreign, of(5, 5, 5)), Some(Verdict::Lost));
        assert_eq!(verdict(Held::Broken, of(6, 5, 5)), Some(Verdict::Torn));
        assert_eq!(verdict(Held::Broken, of(5, 5, 5)), Some(Verdict::Corrupt));
        assert_eq!(verdict(Held::Misplaced(0), of(5, 5, 5)), Some(Verdict::Misplaced));
        assert_eq!(verdict(Held::Misplaced(0), of(0, 0, 0)), Some(Verdict::Misplaced), "where nothing was written");
    }
}
