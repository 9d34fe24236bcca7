//! Reads: what they sense on which die, and when it has come to the host.

use super::Flash;
use super::command::carry;
use super::die::Asked;
use super::pieces::Fetched;
use super::supply::SENSE;
use std::ops::Range;
use tameshi_base::{Command, Nanos};

impl Flash {
    /// A read: when it is over, and where the time goes.
    #[inline(always)]
    pub(super) fn read(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let unit_bytes = self.times.unit_bytes;
        let is_one = u64::from(command.length_bytes) == unit_bytes && command.offset_bytes & (unit_bytes - 1) == 0;
        if self.is_plain && is_one {
            self.read_of::<true>(number, command, submitted, now);
        } else {
            self.read_of_any(number, command, submitted, now);
        }
    }

    #[inline(never)]
    fn read_of_any(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        self.read_of::<false>(number, command, submitted, now);
    }

    /// The same, where what is asked of a `PLAIN` drive is one whole mapping unit.
    #[inline(always)]
    fn read_of<const PLAIN: bool>(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let bytes = u64::from(command.length_bytes);
        let first = self.times.unit_of(command.offset_bytes);
        let units = if PLAIN { first..first + 1 } else { self.units(command) };
        let place = if PLAIN { (0, first as u32) } else { self.route(first) };
        let turn = self.turn(place.0, now, self.times.read_turn);
        let ready = turn + self.times.read_overhead;
        let inside = !PLAIN && first * self.times.unit_bytes != command.offset_bytes;
        let (last, from, own);
        if !PLAIN && units.start + 1 < units.end {
            last = self.fetch_several(units, inside, now, ready);
            // Data cross the link as they come: once the last are there, one mapping unit is left to cross.
            let crossed = self.times.link[0].time(bytes.saturating_sub(self.times.unit_bytes));
            from = last.at.saturating_sub(crossed).max(ready);
            own = (self.times.read_overhead + last.media - last.behind_own).min(from - now);
        } else {
            let nothing = Fetched::at(ready);
            last = if units.is_empty() { nothing } else { self.fetch::<false, PLAIN>(place, inside, now, ready) };
            from = last.at;
            own = (self.times.read_overhead + last.media).min(from - now);
        }
        let crossed = if PLAIN { self.cross_plainly(now, (from, own)) } else { self.cross(0, bytes, now, (from, own)) };
        self.slots[number as usize].done.breakdown = last.told(turn - submitted, self.times.read_overhead, crossed);
        self.schedule(crossed.0, number);
    }

    /// Fetches the mapping units of a read that asks for several; what was there last.
    #[inline(never)]
    fn fetch_several(&mut self, units: Range<u64>, inside: bool, now: Nanos, ready: Nanos) -> Fetched {
        self.pieces.begin();
        let mut last = Fetched::default();
        for unit in units.clone() {
            let fetched = self.fetch::<true, false>(self.route(unit), inside && unit == units.start, now, ready);
            if fetched.at > last.at {
                last = fetched;
            }
        }
        last
    }

    /// Senses one mapping unit of a controller, if it is on a die, and brings it there; of what begins `inside` of the unit, the rest.
    /// It may be one of `SEVERAL` of a read, and the drive may be `PLAIN`.
    #[inline(always)]
    pub(super) fn fetch<const SEVERAL: bool, const PLAIN: bool>(
        &mut self,
        (number, logical): (usize, u32),
        inside: bool,
        now: Nanos,
        ready: Nanos,
    ) -> Fetched {
        let controller = &self.controllers[number];
        let nothing = Fetched::at(ready);
        let Some(physical) = controller.ftl.lookup(logical) else { return nothing };
        let (program_unit, _) = self.layout.program_unit(physical);
        let (place, page) = if PLAIN { self.layout.place(program_unit) } else { self.place(number, program_unit) };
        let die = controller.first_die + u32::from(place.die);
        if controller.programs > 0 && controller.unprogrammed[program_unit as usize] > 0 {
            return nothing;
        }
        if !PLAIN && self.dies[die as usize].dead {
            return self.reconstruct::<SEVERAL>(number, physical, now, ready);
        }
        let repeats = if PLAIN { 0 } else { self.repeats(number, physical) };
        self.bring::<SEVERAL, PLAIN>(
            die,
            Asked { unit: program_unit, part: physical, inside, page, repeats },
            now,
            ready,
        )
    }

    /// Senses on a die, and brings what is asked for to the controller.
    #[inline(always)]
    pub(super) fn bring<const SEVERAL: bool, const PLAIN: bool>(
        &mut self,
        die: u32,
        asked: Asked,
        now: Nanos,
        ready: Nanos,
    ) -> Fetched {
        let of = &mut self.dies[die as usize];
        let repeated = if PLAIN { 0 } else { Nanos::from(asked.repeats) * self.times.repeat };
        let time = self.times.read[usize::from(asked.page)] + repeated;
        let (mut from, mut waits) = (ready, false);
        if !PLAIN && let Some(supply) = &mut self.supply {
            waits = supply.holds_reads(now) && !of.has_sensed(&asked);
            if waits {
                from = supply.take(SENSE, now, ready);
            }
        }
        let sensed = of.read(from, &asked, time, self.times.suspend);
        if sensed.anew {
            self.busy[0] += time;
            if let Some(supply) = &mut self.supply {
                supply.take_on_top(asked.repeats + u32::from(!waits), now);
            }
        }
        let transfer = self.times.unit_transfer;
        self.busy[3] += transfer;
        let own = (self.times.read_overhead + time).min(sensed.at - now);
        let channel = self.layout.channel_of(die);
        let at = carry(&mut self.channels[channel], transfer, now, (sensed.at, own));
        let mut fetched = Fetched::brought((ready, from), &sensed, (at, transfer));
        if SEVERAL {
            let on_bus = (at - sensed.at - transfer, transfer);
            self.pieces.count((die as usize, channel), (from, &sensed), on_bus, &mut fetched);
        }
        fetched
    }

    /// The same from the drive to the host, for a mapping unit of a plain drive.
    #[inline(always)]
    fn cross_plainly(&mut self, now: Nanos, (from, own): (Nanos, Nanos)) -> (Nanos, Nanos) {
        let time = self.times.unit_link;
        let at = carry(&mut self.link[0], time, now, (from, own));
        let until = self.link[0];
        self.busy[1] += until.saturating_sub((until - time).max(self.crossed));
        self.crossed = self.crossed.max(until);
        (at, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceCompletion;
    use proptest::prelude::*;
    use tameshi_base::CommandKind;
    use tameshi_spec::profile::{self, DeviceProfile, Written};

    /// A drive that was written once, part of it.
    fn drive(is_plain: bool) -> Flash {
        let text = include_str!("../../../../../python/tameshi/data/profiles/devices/nvme-tlc-3.84tb.toml");
        let profile: DeviceProfile = toml::from_str(text).expect("a profile");
        let profile::Device::Flash(mut flash) = profile.device else { panic!("a flash drive") };
        (flash.simulated.scale, flash.simulated.written) = (1024, Written::Once);
        flash.simulated.used = tameshi_base::Share(900_000);
        let drive = Flash::new(&flash).expect("a drive");
        assert!(drive.is_plain);
        Flash { is_plain, ..drive }
    }

    /// What becomes of commands, each so long after the one before it.
    fn completions(mut drive: Flash, commands: &[(u64, Command)]) -> (Vec<DeviceCompletion>, [Nanos; 4], Option<u64>) {
        let (mut now, mut completions) = (0, Vec::new());
        for (pause, command) in commands {
            now += pause;
            drive.advance(now, &mut completions);
            drive.submit(now, command);
        }
        while let Some(wake) = drive.next_wake() {
            drive.advance(wake, &mut completions);
        }
        (completions, drive.busy, drive.energy_nj(1 << 40))
    }

    proptest! {
        // slow: two drives are made in each case
        #[test]
        fn reads_of_one_unit_go_the_same_way_on_a_plain_drive(
            asked in proptest::collection::vec((0u64..20_000, 0u64..6000, 0u64..3, any::<bool>()), 1..200),
        ) {
            let command = |(id, &(pause, place, more, reads)): (u64, &(u64, u64, u64, bool))| {
                let kind = if reads { CommandKind::Read } else { CommandKind::Write };
                let (offset_bytes, length_bytes) = (place * 2048, 4096 + more as u32 * 2048);
                (pause, Command { id, kind, offset_bytes, length_bytes, fua: false, stream: 0 })
            };
            let commands: Vec<(u64, Command)> = (0..).zip(&asked).map(command).collect();
            prop_assert_eq!(completions(drive(true), &commands), completions(drive(false), &commands));
        }
    }
}
