//! Fate of unflushed data at a power cut.
//!
//! Each write in the undo log consists of atoms: the whole write up to the atomic size, else its
//! mapping units or sectors. An atom is stored whole or not at all. The newest stored atom of a
//! sector decides its content; without one the sector holds its last durable data.
//!
//! - A durable write is kept.
//! - An acknowledged write is kept unless the simulated drive names one of its ranges as lost. If a
//!   newer write of the same place is lost, chance decides about the older one.
//! - Chance decides about each atom of a write under way.

use crate::store::{PAGE, Store, pieces};
use crate::undo::{Entry, State, UndoLog, overlaps};
use serde::Serialize;
use std::collections::BTreeMap;
use tameshi_base::Random;
use tameshi_base::units::Size;
use tameshi_spec::profile::Device;
use tameshi_spec::run::Node;

/// Bytes of a sector, the finest granule of a torn write.
const SECTOR: u64 = 512;

/// Promises of a drive about its data at a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durability {
    /// Acknowledged data may be in volatile memory.
    pub volatile: bool,
    /// Most bytes of a write that is stored whole or not at all.
    pub atomic_bytes: u64,
    /// Bytes of the parts of a larger write.
    pub part_bytes: u64,
    /// The drive acknowledges flushes at once, and does nothing.
    pub ignores_flush: bool,
}

impl Durability {
    /// Return the promises of a stack of drives: atoms are those of its drives.
    pub fn of(node: &Node) -> Self {
        let (atomic_bytes, part_bytes) = match node.drive().1 {
            Device::Hdd(_) => (SECTOR, SECTOR),
            Device::Flash(flash) => {
                let Size(unit) = flash.mapping_unit.value;
                (flash.atomic_write.as_ref().map_or(unit, |of| of.value.0), unit)
            }
            Device::Null(_) | Device::XPoint(_) | Device::Volume(_) => (PAGE, PAGE),
        };
        Self { volatile: node.is_volatile(), atomic_bytes, part_bytes, ignores_flush: false }
    }
}

/// Fate of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Acknowledged, and lost.
    Lost,
    /// Not acknowledged, and not stored.
    Dropped,
}

/// Result of a power cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// Acknowledged writes that were not known to be durable.
    pub acknowledged: u64,
    /// Those of them that are lost, at least in part.
    pub lost_writes: u64,
    /// Acknowledged bytes that hold older data.
    pub lost_bytes: u64,
    /// Writes not acknowledged.
    pub under_way: u64,
    /// Those of them that are stored completely.
    pub stored_writes: u64,
    /// Writes of which some atoms are stored and others not.
    pub torn_writes: u64,
    /// Ranges that are not stored, as offset, length and fate, from the newest write to the oldest.
    pub ranges: Vec<(u64, u64, Fate)>,
}

/// Sectors whose content is decided, and sectors where a newer write is lost.
#[derive(Default)]
struct Sectors {
    /// Bits of decided and of peeled sectors, by page.
    pages: BTreeMap<u64, (u8, u8)>,
    /// Newer trims, which decide their sectors.
    trims: Vec<(u64, u64)>,
}

impl Sectors {
    fn bits(within: usize, length: usize) -> u8 {
        let (first, after) = (within as u64 / SECTOR, (within + length) as u64 / SECTOR);
        (0xFF_u16 << first) as u8 & (0xFF_u16 >> (8 - after)) as u8
    }

    /// Return whether a newer write or trim touches the range.
    fn is_superseded(&self, offset: u64, length: u64) -> bool {
        let by_write = pieces(offset, length).any(|(page, within, length)| {
            self.pages.get(&page).is_some_and(|(decided, peeled)| (decided | peeled) & Self::bits(within, length) != 0)
        });
        by_write || self.trims.iter().any(|&(start, bytes)| start < offset + length && offset < start + bytes)
    }

    fn decide(&mut self, offset: u64, length: u64) {
        for (page, within, length) in pieces(offset, length) {
            self.pages.entry(page).or_default().0 |= Self::bits(within, length);
        }
    }

    /// Mark sectors of a page as peeled; return those that are not decided, and those of them that
    /// no newer write has peeled.
    fn peel(&mut self, page: u64, within: usize, length: usize) -> (u8, u8) {
        let trimmed = |sector: u64| {
            let at = page * PAGE + sector * SECTOR;
            self.trims.iter().any(|&(start, bytes)| (start..start + bytes).contains(&at))
        };
        let trimmed = (0..8).filter(|&sector| trimmed(sector)).fold(0, |bits, sector| bits | 1_u8 << sector);
        let (decided, peeled) = self.pages.entry(page).or_default();
        let open = Self::bits(within, length) & !*decided & !trimmed;
        let new = open & !*peeled;
        *peeled |= open;
        (open, new)
    }
}

/// Decide what a drive holds after a power cut, and store it.
///
/// `lost` are ranges that the simulated drive loses, sorted by their offsets. The log is empty
/// afterwards: what the drive then holds is durable.
pub(crate) fn cut(
    log: &mut UndoLog,
    store: &mut Store,
    durability: &Durability,
    lost: &[(u64, u64)],
    random: &mut Random,
) -> Cut {
    let (mut cut, mut sectors) = (Cut::default(), Sectors::default());
    for (entry, place) in log.newest_first() {
        if entry.is_trim {
            sectors.trims.push((entry.offset, entry.length));
            continue;
        }
        let (mut stored, mut missing) = (0, 0);
        for (offset, length) in atoms(&entry, durability) {
            let is_kept = match entry.state {
                State::Durable => true,
                State::Acknowledged if !sectors.is_superseded(offset, length) => !overlaps(lost, offset, length),
                State::Acknowledged | State::UnderWay => random.below(2) == 0,
            };
            if is_kept {
                sectors.decide(offset, length);
                stored += 1;
                continue;
            }
            // Newer writes may have decided all of it: then nothing of this one is missing.
            let (any, bytes) = take_back(log, store, &mut sectors, &entry, place, (offset, length));
            if any {
                missing += 1;
                let is_lost = entry.state == State::Acknowledged;
                cut.lost_bytes += if is_lost { bytes } else { 0 };
                cut.ranges.push((offset, length, if is_lost { Fate::Lost } else { Fate::Dropped }));
            }
        }
        count(&mut cut, entry.state, stored, missing);
    }
    log.clear();
    cut
}

fn count(cut: &mut Cut, state: State, stored: u64, missing: u64) {
    match state {
        State::Durable => return,
        State::Acknowledged => {
            cut.acknowledged += 1;
            cut.lost_writes += u64::from(missing > 0);
        }
        State::UnderWay => {
            cut.under_way += 1;
            cut.stored_writes += u64::from(missing == 0);
        }
    }
    cut.torn_writes += u64::from(stored > 0 && missing > 0);
}

/// Return the atoms of a write: offset and length of each.
fn atoms(entry: &Entry, durability: &Durability) -> impl Iterator<Item = (u64, u64)> + use<> {
    let (start, end) = (entry.offset, entry.offset + entry.length);
    let part = if entry.length <= durability.atomic_bytes { u64::MAX } else { durability.part_bytes };
    let mut at = start;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let next = if part == u64::MAX { end } else { ((at / part + 1) * part).min(end) };
        let atom = (at, next - at);
        at = next;
        Some(atom)
    })
}

/// Restore what an atom overwrote, where no newer write has decided; return whether there was any
/// such place, and its bytes that no newer write has lost already.
fn take_back(
    log: &UndoLog,
    store: &mut Store,
    sectors: &mut Sectors,
    entry: &Entry,
    place: usize,
    (offset, length): (u64, u64),
) -> (bool, u64) {
    let (mut any, mut bytes) = (false, 0);
    for (page, within, length) in pieces(offset, length) {
        let (open, new) = sectors.peel(page, within, length);
        any |= open != 0;
        bytes += u64::from(new.count_ones()) * SECTOR;
        let before = log.saved(place + (page - entry.offset / PAGE) as usize);
        for sector in (0..8).filter(|sector| open >> sector & 1 == 1) {
            let (at, from) = (page * PAGE + sector * SECTOR, (sector * SECTOR) as usize);
            let old = before.map(|page| &page[from..from + SECTOR as usize]);
            // The page has taken memory before, or is a hole and stays one.
            let _ = store.write(at, old.unwrap_or(&[0; SECTOR as usize]));
        }
    }
    (any, bytes)
}
