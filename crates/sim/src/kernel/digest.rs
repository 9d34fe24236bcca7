//! The digest of a run: XXH3-128 over every completion in order, so that two runs can be told to be the same.

use tameshi_base::{CommandKind, Nanos};
use xxhash_rust::xxh3::Xxh3;

const ENTRY_BYTES: usize = 40;
/// Completions that go into the hash together: each by itself would cost it more than its bytes.
const TOGETHER: usize = 50;
/// Marks a kind of which the command failed.
const FAILED: u16 = 0x100;

/// What the digest takes of one completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Nanos,
    pub(crate) stream: u16,
    pub(crate) job: u32,
    pub(crate) slot: u32,
    pub(crate) kind: CommandKind,
    pub(crate) offset_bytes: u64,
    pub(crate) latency: Nanos,
    pub(crate) failed: bool,
}

/// Takes completions in order.
pub(crate) struct Digest {
    hash: Xxh3,
    waiting: [[u8; ENTRY_BYTES]; TOGETHER],
    count: usize,
}

impl Digest {
    pub(crate) fn new() -> Self {
        Self { hash: Xxh3::new(), waiting: [[0; ENTRY_BYTES]; TOGETHER], count: 0 }
    }

    /// Adds one completion, in little-endian fields of fixed width.
    #[inline]
    pub(crate) fn add(&mut self, entry: Entry) {
        let kind = match entry.kind {
            CommandKind::Read => 0u16,
            CommandKind::Write => 1,
            CommandKind::Flush => 2,
            CommandKind::Trim => 3,
        };
        let kind = kind | if entry.failed { FAILED } else { 0 };
        if self.count == TOGETHER {
            self.hash.update(self.waiting.as_flattened());
            self.count = 0;
        }
        let bytes = &mut self.waiting[self.count];
        self.count += 1;
        bytes[0..8].copy_from_slice(&entry.at.to_le_bytes());
        bytes[8..16].copy_from_slice(&entry.offset_bytes.to_le_bytes());
        bytes[16..24].copy_from_slice(&entry.latency.to_le_bytes());
        bytes[24..28].copy_from_slice(&entry.job.to_le_bytes());
        bytes[28..32].copy_from_slice(&entry.slot.to_le_bytes());
        bytes[32..34].copy_from_slice(&entry.stream.to_le_bytes());
        bytes[34..36].copy_from_slice(&kind.to_le_bytes());
    }

    /// The digest so far, as 32 hex digits.
    pub(crate) fn hex(&self) -> String {
        let mut hash = self.hash.clone();
        hash.update(self.waiting[..self.count].as_flattened());
        format!("{:032x}", hash.digest128())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_all_entries_in_one() {
        let entry = |at| Entry {
            at,
            stream: 2,
            job: 3,
            slot: 4,
            kind: CommandKind::Trim,
            offset_bytes: at * 4096,
            latency: 6,
            failed: true,
        };
        let (mut digest, mut all) = (Digest::new(), Vec::new());
        for at in 0..3 * TOGETHER as u64 + 7 {
            let fields = [at, at * 4096, 6, 3 | 4 << 32, 2 | (3 | u64::from(FAILED)) << 16];
            all.extend(fields.into_iter().flat_map(u64::to_le_bytes));
            digest.add(entry(at));
            assert_eq!(digest.hex(), format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&all)));
        }
    }

    #[test]
    fn every_field_and_the_order_count() {
        let entry = Entry {
            at: 1,
            stream: 2,
            job: 3,
            slot: 4,
            kind: CommandKind::Read,
            offset_bytes: 5,
            latency: 6,
            failed: false,
        };
        let of = |entries: &[Entry]| {
            let mut digest = Digest::new();
            entries.iter().for_each(|&entry| digest.add(entry));
            digest.hex()
        };
        let others = [
            Entry { at: 9, ..entry },
            Entry { stream: 9, ..entry },
            Entry { job: 9, ..entry },
            Entry { slot: 9, ..entry },
            Entry { kind: CommandKind::Write, ..entry },
            Entry { offset_bytes: 9, ..entry },
            Entry { latency: 9, ..entry },
            Entry { failed: true, ..entry },
        ];
        assert_eq!(of(&[entry]), of(&[entry]));
        for other in others {
            assert_ne!(of(&[entry]), of(&[other]), "{other:?}");
            assert_ne!(of(&[entry, other]), of(&[other, entry]), "{other:?}");
        }
    }
}
