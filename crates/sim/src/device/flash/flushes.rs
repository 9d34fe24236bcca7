//! What a drive does for flushes, and for writes with force unit access, before they complete.
//!
//! With protection what is in the buffer is durable. Without, they wait until the data before them are programmed, and then, where the
//! profile says how long that takes, until a die has written what these changed of the map. One such writing goes on at a time;
//! all that is ready when it begins shares it, and what comes later waits for the next one.

use super::die::{Kind, NONE, Pending};
use super::state::MapWriting;
use super::{Breakdown, DeviceCompletion, Flash};
use tameshi_base::{Command, Nanos};

impl Flash {
    /// A flush was handed over.
    pub(super) fn submit_flush(&mut self, now: Nanos, command: &Command) {
        self.barrier.flush(command, now, now + self.times.write_overhead);
        if !self.times.protected {
            self.pad_all(now, NONE);
            self.durable.flush(command, now, now);
        }
    }

    #[cold]
    pub(super) fn next_wake_with_flush(&self) -> Option<Nanos> {
        let event = self.events.next();
        let wake = self.next_flush().map_or(event, |flush| event.min(flush));
        (wake < Nanos::MAX).then_some(wake)
    }

    /// When the first flush completes, or has the map written.
    #[inline]
    pub(super) fn next_flush(&self) -> Option<Nanos> {
        let at = self.barrier.next()?;
        if self.times.protected {
            return Some(at);
        }
        let at = at.max(self.durable.next()?);
        let Some(map) = &self.map_writing else { return Some(at) };
        (!map.is_under_way).then(|| at.max(map.ended))
    }

    /// The time of [`Flash::next_flush`] has come.
    pub(super) fn flushes(&mut self, at: Nanos, completions: &mut Vec<DeviceCompletion>) {
        match &mut self.map_writing {
            Some(map) if map.flushes > 0 => map.flushes -= 1,
            Some(map) if map.changed => return self.write_map(at),
            _ => {}
        }
        if !self.times.protected {
            self.durable.pop(at);
        }
        let Some(flush) = self.barrier.pop(at) else { return };
        let latency = at - flush.submitted;
        let controller = self.times.write_overhead.min(latency);
        let [queue, media] = if self.times.protected { [latency - controller, 0] } else { [0, latency - controller] };
        let breakdown = Breakdown { queue, controller, media, ..Breakdown::default() };
        completions.push(DeviceCompletion {
            command: flush.command,
            submitted: flush.submitted,
            at,
            breakdown,
            failed: false,
        });
        while self.held < self.times.depth && self.take_from_host(at) {}
        self.note_whether_full(at);
    }

    /// Data were programmed, or trimmed, that the map on the flash does not know of.
    #[inline]
    pub(super) fn map_changes(&mut self) {
        if let Some(map) = &mut self.map_writing {
            map.changed = true;
        }
    }

    /// The last program of a write with force unit access, which began at `begun`, is over: it waits for the map.
    pub(super) fn waits_for_map(&mut self, slot: u32, (begun, at): (Nanos, Nanos)) {
        let Some(map) = &mut self.map_writing else { return };
        map.later.push((slot, begun));
        if !map.is_under_way {
            self.write_map(at);
        }
    }

    /// A die begins to write what has changed: each in turn.
    fn write_map(&mut self, at: Nanos) {
        let flushes = self.barrier.ready(at).min(self.durable.ready(at));
        let Some(map) = &mut self.map_writing else { return };
        (map.changed, map.is_under_way, map.flushes) = (false, true, flushes);
        std::mem::swap(&mut map.writes, &mut map.later);
        let after = (1..=self.dies.len()).map(|next| (map.die + next) % self.dies.len());
        let die = after.into_iter().find(|&die| !self.dies[die].dead).unwrap_or(0);
        map.die = die;
        let (kind, unit, tag, ready) = (Kind::Map, NONE, NONE, at);
        let pending = Pending { kind, page: 0, frees: 0, moved: 0, unit, tag, renews: false, epoch: 0, ready };
        self.enqueue(die as u32, pending, at);
    }

    /// What had changed is written: who waited for it goes on.
    #[cold]
    pub(super) fn map_is_written(&mut self, at: Nanos) {
        let Some(map) = &mut self.map_writing else { return };
        (map.is_under_way, map.ended) = (false, at);
        let mut writes = std::mem::take(&mut map.writes);
        writes.drain(..).for_each(|(slot, begun)| self.acknowledge(slot, at, at - begun));
        let Some(map) = &mut self.map_writing else { return };
        map.writes = writes;
        if !map.later.is_empty() {
            self.write_map(at);
        }
    }

    /// Forgets who waits.
    pub(super) fn flushes_anew(&mut self) {
        self.barrier.clear();
        self.durable.clear();
        if let Some(map) = &mut self.map_writing {
            *map = MapWriting::default();
        }
    }
}
