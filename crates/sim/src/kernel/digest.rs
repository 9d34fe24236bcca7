//! Digest of a run: XXH3-128 of every completion in order. Equal runs have equal digests.

use tameshi_base::{CommandKind, Nanos};
use xxhash_rust::xxh3::Xxh3;

const ENTRY_BYTES: usize = 40;
/// Completions per hash update. A single one costs more per call than for its bytes.
const BATCH: usize = 50;
/// Bit in the kind of a failed command.
const FAILED: u16 = 0x100;

/// Digested fields of one completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) at: Nanos,
    pub(super) stream: u16,
    pub(super) job: u32,
    pub(super) slot: u32,
    pub(super) kind: CommandKind,
    pub(super) offset_bytes: u64,
    pub(super) latency: Nanos,
    pub(super) failed: bool,
}

/// Digest of the completions so far.
pub(super) struct Digest {
    hash: Xxh3,
    waiting: [[u8; ENTRY_BYTES]; BATCH],
    count: usize,
}

impl Digest {
    pub(super) fn new() -> Self {
        Self { hash: Xxh3::new(), waiting: [[0; ENTRY_BYTES]; BATCH], count: 0 }
    }

    /// Add one completion, as little-endian fields of fixed width.
    #[inline]
    pub(super) fn add(&mut self, entry: Entry) {
        let kind = match entry.kind {
            CommandKind::Read => 0u16,
            CommandKind::Write => 1,
            CommandKind::Flush => 2,
            CommandKind::Trim => 3,
        };
        let kind = kind | if entry.failed { FAILED } else { 0 };
        if self.count == BATCH {
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

    /// Return the digest so far, as 32 hexadecimal digits.
    pub(super) fn hex(&self) -> String {
        let mut hash = self.hash.clone();
        hash.update(self.waiting[..self.count].as_flattened());
        format!("{:032x}", hash.digest128())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_batches_equals_digest_of_all_entries() {
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
        for at in 0..3 * BATCH as u64 + 7 {
            let fields = [at, at * 4096, 6, 3 | 4 << 32, 2 | (3 | u64::from(FAILED)) << 16];
            all.extend(fields.into_iter().flat_map(u64::to_le_bytes));
            digest.add(entry(at));
            assert_eq!(digest.hex(), format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&all)));
        }
    }

    #[test]
    fn digest_depends_on_every_field_and_order() {
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
