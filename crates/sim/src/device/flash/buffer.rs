//! Write buffer: room for mapping units, writes that wait for it, and program units still in it.

use super::dies::NONE;
use super::ftl::Frontier;
use crate::device::loss::Loss;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_spec::profile::FlashProfile;

/// Room of the buffer, in mapping units.
#[derive(Debug)]
pub(super) struct WriteBuffer {
    free: u64,
    units: u64,
    /// Writes that wait for room, by slot.
    waiting: VecDeque<u32>,
    /// Power-loss protection: time to program the full buffer, and hold-up time of the capacitor.
    protection: Option<(Nanos, Nanos)>,
    /// Bytes of a write that is stored whole or not at all.
    atomic_bytes: u64,
    /// Bytes of all writes taken.
    written_bytes: u64,
}

impl WriteBuffer {
    pub(super) fn new(profile: &FlashProfile) -> Self {
        let units = profile.buffer.size.value.0 / profile.mapping_unit.value.0;
        let protection = profile.buffer.power_loss_protection.as_ref();
        Self {
            free: units,
            units,
            waiting: VecDeque::new(),
            protection: protection.map(|of| (of.flush_time.value.0, of.hold_up.value.0)),
            atomic_bytes: profile.atomic_write.as_ref().unwrap_or(&profile.mapping_unit).value.0,
            written_bytes: 0,
        }
    }

    /// Return whether buffered data survive a power cut.
    #[inline]
    pub(super) fn is_protected(&self) -> bool {
        self.protection.is_some()
    }

    pub(super) fn atomic_bytes(&self) -> u64 {
        self.atomic_bytes
    }

    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    pub(super) fn count_written(&mut self, bytes: u32) {
        self.written_bytes += u64::from(bytes);
    }

    /// Return whether a new write finds no room, or others that wait for room.
    #[inline]
    pub(super) fn is_contended(&self) -> bool {
        self.free == 0 || !self.waiting.is_empty()
    }

    /// Take room for up to `units`; return how many.
    #[inline]
    pub(super) fn take(&mut self, units: u64) -> u64 {
        let fits = self.free.min(units);
        self.free -= fits;
        fits
    }

    #[inline]
    pub(super) fn release(&mut self, units: u16) {
        self.free += u64::from(units);
    }

    pub(super) fn wait(&mut self, slot: u32) {
        self.waiting.push_back(slot);
    }

    /// Let a write that got part of its room wait first.
    pub(super) fn wait_first(&mut self, slot: u32) {
        self.waiting.push_front(slot);
    }

    /// Take the next waiting write, if there is room.
    #[inline]
    pub(super) fn next_waiting(&mut self) -> Option<u32> {
        if self.free > 0 { self.waiting.pop_front() } else { None }
    }

    /// Return the slot of a waiting write, by its place in the queue.
    #[inline]
    pub(super) fn waiting(&self, place: usize) -> Option<u32> {
        self.waiting.get(place).copied()
    }

    /// Return the loss of a power cut with `acknowledged` units of completed writes in the buffer.
    ///
    /// Without protection all of them are lost. With it the capacitor carries the drive for the
    /// hold-up time; programming part of the buffer takes the same part of the flush time.
    pub(super) fn loss(&self, acknowledged: u64, unit_bytes: u64) -> Loss {
        let mut loss = Loss::default();
        let held = self.units.saturating_sub(self.free);
        let lost = match self.protection {
            None => acknowledged,
            Some((flush, hold_up)) => {
                let part =
                    |of: u64, by: u64, whole: u64| (u128::from(of) * u128::from(by) / u128::from(whole.max(1))) as u64;
                (loss.flush_ns, loss.hold_up_ns) = (part(flush, held, self.units), hold_up);
                let unwritten =
                    if loss.flush_ns <= hold_up { 0 } else { held - part(held, hold_up, loss.flush_ns).min(held) };
                acknowledged.min(unwritten)
            }
        };
        (loss.lost_writes, loss.lost_bytes) = (lost, lost * unit_bytes);
        loss
    }

    /// Empty the buffer.
    pub(super) fn clear(&mut self) {
        self.free = self.units;
        self.waiting.clear();
    }
}

/// Program units of one controller whose data are still in the buffer.
#[derive(Debug)]
pub(super) struct BufferedUnits {
    /// Program units being filled, by frontier.
    filling: [u32; Frontier::COUNT],
    /// Host units in each of them.
    host_units: [u16; Frontier::COUNT],
    /// Relocated units in the host's, if relocated data have no blocks of their own.
    moved_units: u16,
    /// Unfinished programs by program unit, including units being filled.
    unprogrammed: Vec<u8>,
    programs: u32,
}

impl BufferedUnits {
    pub(super) fn new(program_units: usize) -> Self {
        Self {
            filling: [NONE; Frontier::COUNT],
            host_units: [0; Frontier::COUNT],
            moved_units: 0,
            unprogrammed: vec![0; program_units],
            programs: 0,
        }
    }

    #[inline]
    fn enter(&mut self, unit: u32) {
        self.unprogrammed[unit as usize] += 1;
        self.programs += 1;
    }

    /// Remove a programmed unit.
    #[inline]
    pub(super) fn leave(&mut self, unit: u32) {
        self.unprogrammed[unit as usize] -= 1;
        self.programs -= 1;
    }

    /// Return whether any program is under way.
    #[inline]
    pub(super) fn is_programming(&self) -> bool {
        self.programs > 0
    }

    /// Return whether a program unit's data are in the buffer.
    #[inline]
    pub(super) fn holds(&self, unit: u32) -> bool {
        self.programs > 0 && self.unprogrammed[unit as usize] > 0
    }

    #[inline]
    pub(super) fn prefetch(&self, unit: u32) {
        crate::basics::prefetch::prefetch(&self.unprogrammed, unit as usize);
    }

    /// Return the program unit that a frontier fills; [`NONE`] without one.
    #[inline]
    pub(super) fn filling(&self, frontier: Frontier) -> u32 {
        self.filling[frontier as usize]
    }

    /// Return whether a frontier of host data fills a program unit.
    pub(super) fn is_filling(&self, unit: u32) -> bool {
        Frontier::OF_HOST.iter().any(|&of| self.filling(of) == unit)
    }

    /// Program units that frontiers of host data fill.
    pub(super) fn filling_host(&self) -> impl Iterator<Item = u32> + use<> {
        Frontier::OF_HOST.map(|frontier| self.filling(frontier)).into_iter().filter(|&unit| unit != NONE)
    }

    #[inline]
    pub(super) fn add_host_unit(&mut self, frontier: Frontier) {
        self.host_units[frontier as usize] += 1;
    }

    pub(super) fn add_moved_unit(&mut self) {
        self.moved_units += 1;
    }

    /// Note that a frontier fills a program unit.
    #[inline]
    pub(super) fn fill(&mut self, frontier: Frontier, unit: u32) {
        if std::mem::replace(&mut self.filling[frontier as usize], unit) != unit {
            self.enter(unit);
        }
    }

    /// Note that a program unit is full; its data stay in the buffer until they are programmed.
    #[inline]
    pub(super) fn complete(&mut self, frontier: Frontier, unit: u32) {
        if std::mem::replace(&mut self.filling[frontier as usize], NONE) != unit {
            self.enter(unit);
        }
    }

    /// Take the host units and the relocated units of a full program unit.
    #[inline]
    pub(super) fn take_units(&mut self, frontier: Frontier) -> (u16, u16) {
        let host = std::mem::take(&mut self.host_units[frontier as usize]);
        let moved = if frontier == Frontier::Host { std::mem::take(&mut self.moved_units) } else { 0 };
        (host, moved)
    }

    /// Abandon the program unit that a frontier fills.
    pub(super) fn abandon(&mut self, frontier: Frontier) {
        self.filling[frontier as usize] = NONE;
    }

    /// Forget all buffered data after the units being filled have been abandoned.
    pub(super) fn clear(&mut self) {
        (self.host_units, self.moved_units) = ([0; Frontier::COUNT], 0);
        self.unprogrammed.fill(0);
        self.programs = 0;
    }
}
