//! Check of a storage against its journal after a run. Nothing is written.

use crate::error::BlockError;
use crate::target::Target;
use crate::verify::{BLOCK, BlockContent, identify};
use serde::Serialize;
use std::io;
use std::os::fd::AsRawFd;
use tameshi_record::journal::{CHECKED_BYTES, Journal, Written};

/// Bytes per read call.
const CHUNK: usize = 256 * BLOCK;

/// State of a block that does not hold what was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Verdict {
    /// A durable write is missing, or an older write is in its place.
    Lost,
    /// An acknowledged, never durable write is missing. A power failure may cause that; a crash of
    /// a program may not.
    Unsynced,
    /// The checksum does not match, and a write was in flight at the end.
    Torn,
    /// The checksum does not match, and no write was in flight.
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

/// Block that does not hold what was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Offset of the block in the payload.
    pub offset_bytes: u64,
    /// State of the block.
    pub verdict: Verdict,
    /// Write that it holds, if any.
    pub found: Option<u64>,
    /// Offset at which a misplaced block belongs.
    pub belongs_bytes: Option<u64>,
    /// Oldest write that it should hold.
    pub acknowledged: u64,
    /// Last durable write.
    pub durable: u64,
}

/// Result of comparing a storage with its journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// Blocks that the run wrote.
    pub written: u64,
    /// Blocks that hold the last acknowledged write or a later one; if none was acknowledged, also
    /// the earlier content.
    pub right: u64,
    /// The other blocks, ordered by offset.
    pub findings: Vec<Finding>,
}

/// Read every block of the journal's storage, including those that the run never wrote, and
/// compare. Nothing is written.
///
/// # Errors
/// The target can't be read.
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
            let finding = judge(identify(block, journal.generation(), offset), written);
            examined.written += u64::from(written.issued > 0);
            examined.right += u64::from(written.issued > 0 && finding.is_none());
            examined.findings.extend(finding.map(|(verdict, identify)| Finding {
                offset_bytes: offset,
                verdict,
                found: if let BlockContent::Write(sequence) = identify { Some(sequence) } else { None },
                belongs_bytes: if let BlockContent::Misplaced(belongs) = identify { Some(belongs) } else { None },
                acknowledged: written.acknowledged,
                durable: written.durable,
            }));
        }
    }
    Ok(examined)
}

fn judge(identify: BlockContent, written: Written) -> Option<(Verdict, BlockContent)> {
    let found = match identify {
        BlockContent::Write(sequence) => sequence,
        BlockContent::Nothing | BlockContent::Foreign => 0,
        BlockContent::Misplaced(_) => return Some((Verdict::Misplaced, identify)),
        // Blocks that this run never wrote are not checked.
        BlockContent::Broken if written.issued == 0 => return None,
        BlockContent::Broken if written.issued > written.acknowledged => return Some((Verdict::Torn, identify)),
        BlockContent::Broken => return Some((Verdict::Corrupt, identify)),
    };
    if found < written.durable {
        Some((Verdict::Lost, identify))
    } else if found < written.acknowledged {
        Some((Verdict::Unsynced, identify))
    } else {
        None
    }
}

/// Read buffer that is aligned for direct I/O.
struct Chunk(Vec<Page>);

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; BLOCK]);

impl Chunk {
    fn new() -> Self {
        Self(vec![Page([0; BLOCK]); CHUNK / BLOCK])
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: pages are bytes, contiguous without a gap.
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
        // SAFETY: the buffer is borrowed mutably and has `rest.len()` bytes left.
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
    fn blocks_after_a_crash_are_judged_by_the_journal() {
        let of = |issued, acknowledged, durable| Written { issued, acknowledged, durable };
        let verdict = |identify, written| judge(identify, written).map(|(verdict, _)| verdict);
        assert_eq!(verdict(BlockContent::Write(5), of(5, 5, 5)), None);
        assert_eq!(verdict(BlockContent::Write(6), of(6, 5, 5)), None, "under way and arrived");
        assert_eq!(verdict(BlockContent::Write(5), of(6, 5, 5)), None, "under way and not arrived");
        assert_eq!(verdict(BlockContent::Write(4), of(5, 5, 3)), Some(Verdict::Unsynced));
        assert_eq!(verdict(BlockContent::Write(2), of(5, 5, 3)), Some(Verdict::Lost));
        assert_eq!(verdict(BlockContent::Nothing, of(5, 0, 0)), None, "never acknowledged");
        assert_eq!(verdict(BlockContent::Nothing, of(0, 0, 0)), None, "never written");
        assert_eq!(verdict(BlockContent::Nothing, of(5, 5, 0)), Some(Verdict::Unsynced));
        assert_eq!(verdict(BlockContent::Foreign, of(5, 5, 5)), Some(Verdict::Lost));
        assert_eq!(verdict(BlockContent::Broken, of(6, 5, 5)), Some(Verdict::Torn));
        assert_eq!(verdict(BlockContent::Broken, of(5, 5, 5)), Some(Verdict::Corrupt));
        assert_eq!(verdict(BlockContent::Misplaced(0), of(5, 5, 5)), Some(Verdict::Misplaced));
        assert_eq!(
            verdict(BlockContent::Misplaced(0), of(0, 0, 0)),
            Some(Verdict::Misplaced),
            "where nothing was written"
        );
    }
}
