//! A channel dies while the drive works: what was on it is reconstructed, and what lies across it moves.
//!
//! With parity across the channels nothing is lost. Blocks that are opened from then on go round the channels that are left, in
//! stripes that are narrower by one. A page of a dead die is read by sensing the other pages of its stripe, on as many dies
//! as the stripe is wide, less one. In the background, beside the host's commands, one stripe's worth at a time, the
//! blocks that lie across the dead channel are moved into new ones and erased (the rebuild). If another channel of the controller dies
//! before that is over, or there is no parity, or no room, the drive is dead.
//!
//! What is under way on a dying die gets through; what waits for it takes no time any more. The parity of a stripe that
//! was cut short stays in the controller's memory.

use super::die::{Asked, Kind, NONE, PARITY, Pending};
use super::ftl::{Frontier, Step};
use super::layout::{IN_CACHE, Place};
use super::pieces::Fetched;
use super::state::Degraded;
use super::{Flash, Nanos};
use crate::faults::loss::Rebuilt;
use tameshi_base::Reason;

/// Whether a page of data waits to be sensed. Parity is sensed for a page of a channel that died before: what is still under way for
/// that one gets through.
fn is_page(pending: &Pending) -> bool {
    pending.kind == Kind::Sense && pending.unit & PARITY == 0
}

impl Flash {
    /// A channel dies, counted over all controllers; whether the drive lives on.
    ///
    /// # Errors
    /// There is no such channel, or it is dead already.
    pub(crate) fn fail_channel(&mut self, channel: u32, now: Nanos) -> Result<bool, Reason> {
        if let Some((bytes, passes)) = self.past.take() {
            self.precondition(bytes, passes);
        }
        let number = (channel / self.layout.channels) as usize;
        if number >= self.controllers.len() {
            return Err(Reason::new("no_channel").with("channel", channel));
        }
        let per_channel = self.layout.dies_per_channel as usize;
        let first = channel as usize * per_channel;
        if self.dies[first].dead {
            return Err(Reason::new("channel_dead").with("channel", channel));
        }
        let controller = &self.controllers[number];
        let data = self.width(number) - 1;
        if !self.layout.has_parity() || data == 0 || controller.ftl.old_blocks() > 0 {
            return Ok(false);
        }
        for die in first..first + per_channel {
            self.dies[die].dead = true;
            let queue = std::mem::take(&mut self.dies[die].queue);
            queue.iter().filter(|of| is_page(of)).for_each(|&sense| self.sense_others(number, sense, now));
            self.dies[die].queue = queue;
        }
        self.fill_up(number, now);
        let narrow = self.layout.narrow(data, |channel| {
            let first = (number as u32 * self.layout.channels + channel) * per_channel as u32;
            !self.dies[first as usize].dead
        });
        let usable_units = narrow.len() as u32 * self.layout.program_units;
        if self.controllers[number].ftl.narrow(usable_units).is_err() {
            return Ok(false);
        }
        let whole = (&self.layout.places, self.layout.data());
        self.controllers[number].is_uniform = false;
        self.is_plain = false;
        let degraded = self.controllers[number].degraded.get_or_insert_with(|| {
            let layouts = vec![(whole.0.clone(), whole.1)];
            let (outstanding, filling) = (0, false);
            Box::new(Degraded { layouts, channel, since: now, outstanding, filling, moved: (0, 0), going_on: false })
        });
        degraded.layouts.push((narrow, data));
        (degraded.channel, degraded.since, degraded.going_on) = (channel, now, true);
        degraded.moved.1 = degraded.moved.0;
        self.renew(number, now);
        Ok(true)
    }

    /// Data channels that new blocks of a controller lie across.
    fn width(&self, number: usize) -> u32 {
        let degraded = self.controllers[number].degraded.as_ref();
        degraded.and_then(|of| of.layouts.last()).map_or(self.layout.data(), |(_, data)| *data)
    }

    /// Program units that fill up are left partly empty and go to their dies.
    fn fill_up(&mut self, number: usize, now: Nanos) {
        self.pad_all(now, NONE);
        for frontier in Frontier::OF_RELOCATED {
            while self.controllers[number].filling[frontier as usize] != NONE {
                let to = self.controllers[number].ftl.pad(frontier);
                self.relocated(number, frontier, to, now);
            }
        }
    }

    /// Where a program unit is, and its kind of page.
    #[inline(always)]
    pub(super) fn place(&self, number: usize, unit: u32) -> (Place, u8) {
        if self.controllers[number].is_uniform {
            return self.layout.place(unit);
        }
        self.place_among_others(number, unit)
    }

    #[inline(never)]
    fn place_among_others(&self, number: usize, unit: u32) -> (Place, u8) {
        let (block, rest) = self.layout.block(unit);
        let (places, _) = self.layout_of(number, block, rest);
        self.of_block(number, places[rest as usize], block)
    }

    /// A place of a block with its kind of page.
    fn of_block(&self, number: usize, place: Place, block: u32) -> (Place, u8) {
        if self.controllers[number].ftl.is_in_cache(block) {
            return (place, IN_CACHE);
        }
        self.layout.in_turn(place, block)
    }

    /// Places of the program units of a block that has such a one, and how many of a stripe hold data.
    fn layout_of(&self, number: usize, block: u32, rest: u32) -> (&[Place], u32) {
        let controller = &self.controllers[number];
        let Some(degraded) = &controller.degraded else { return (&self.layout.places, self.layout.data()) };
        // The map may have reclaimed a block while a unit of it, from before a channel's death, is still on its way there.
        let known = &degraded.layouts[..=controller.ftl.generation(block)];
        let (places, data) = known.iter().rfind(|(places, _)| (rest as usize) < places.len()).unwrap_or(&known[0]);
        (places, *data)
    }

    /// What is on the die of the `position`-th part of a program unit's stripe, its parity being the last: the die, a number for what is
    /// sensed there, its kind of page. `None` for the unit itself.
    fn in_stripe(&self, number: usize, unit: u32, position: u32) -> Option<(u32, u32, u8)> {
        let (block, rest) = self.layout.block(unit);
        let (places, data) = self.layout_of(number, block, rest);
        let first = rest / data * data;
        let first_die = self.controllers[number].first_die;
        if position == data {
            let (last, kind) = self.of_block(number, places[(first + data - 1) as usize], block);
            return Some((first_die + u32::from(last.parity) - 1, (unit - rest + first) | PARITY, kind));
        }
        let (place, kind) = self.of_block(number, places[(first + position) as usize], block);
        let other = unit - rest + first + position;
        (other != unit).then_some((first_die + u32::from(place.die), other, kind))
    }

    /// Parts of the stripe of a program unit, parity included.
    fn parts(&self, number: usize, unit: u32) -> u32 {
        let (block, rest) = self.layout.block(unit);
        self.layout_of(number, block, rest).1 + 1
    }

    /// Reads a mapping unit of a dead die: what the other dies of its stripe hold gives it.
    #[cold]
    pub(super) fn reconstruct<const SEVERAL: bool>(
        &mut self,
        number: usize,
        physical: u32,
        now: Nanos,
        ready: Nanos,
    ) -> Fetched {
        let (unit, _) = self.layout.program_unit(physical);
        let mut last = Fetched::at(ready);
        for position in 0..self.parts(number, unit) {
            let Some((die, sensed, page)) = self.in_stripe(number, unit, position) else { continue };
            let asked =
                Asked { unit: sensed, part: physical, inside: false, page, repeats: self.repeats(number, physical) };
            let fetched = self.bring::<SEVERAL, false>(die, asked, now, ready);
            if fetched.at > last.at {
                last = fetched;
            }
        }
        last
    }

    /// What a dead die had to do takes no time.
    #[cold]
    pub(super) fn pass_over(&mut self, die: u32, at: Nanos) {
        self.dies[die as usize].work(at, at);
        self.events.add(at, die);
    }

    /// What was to be sensed on a dead die is sensed on the others of its stripe; its block is not erased yet.
    #[cold]
    pub(super) fn sense_others(&mut self, number: usize, sense: Pending, at: Nanos) {
        for position in 0..self.parts(number, sense.unit) {
            if let Some((other, unit, page)) = self.in_stripe(number, sense.unit, position) {
                self.relocations.expect(sense.tag);
                self.enqueue(other, Pending { unit, page, ..sense }, at);
            }
        }
    }

    /// Goes on with the rebuild, as far as one stripe's worth of it is on its way.
    pub(super) fn renew(&mut self, number: usize, at: Nanos) {
        let width = self.width(number);
        loop {
            let controller = &mut self.controllers[number];
            let Some(degraded) = controller.degraded.as_mut().filter(|of| of.going_on && of.outstanding < width) else {
                return;
            };
            if controller.ftl.old_blocks() == 0 {
                degraded.going_on = degraded.outstanding > 0;
                if !degraded.going_on {
                    let bytes = (degraded.moved.0 - degraded.moved.1) * self.times.unit_bytes;
                    let (since, channel) = (degraded.since, Some(degraded.channel));
                    self.rebuilt.push_back(Rebuilt { at, since, drive: 0, channel, is_resync: false, bytes });
                }
                return;
            }
            self.reclaim_until_possible(number, at);
            match self.controllers[number].ftl.renew() {
                // The last old blocks are being reclaimed anyway.
                None => {
                    self.reclaim_step(number, at);
                }
                Some(Step::Erased { .. }) => self.erase(number, true, at),
                Some(Step::Moved { from, to, frontier }) => {
                    if let Some(degraded) = &mut self.controllers[number].degraded {
                        degraded.moved.0 += 1;
                    }
                    self.move_unit(number, frontier, (from, to), true, at);
                }
            }
        }
    }

    /// A program unit that holds some of the rebuild is on its way.
    pub(super) fn renewal_begins(&mut self, number: usize) {
        if let Some(degraded) = &mut self.controllers[number].degraded {
            degraded.outstanding += 1;
        }
    }

    /// It is on its die.
    #[cold]
    pub(super) fn renewed(&mut self, die: u32, at: Nanos) {
        let number = self.layout.controller_of(die);
        if let Some(degraded) = &mut self.controllers[number].degraded {
            degraded.outstanding -= 1;
        }
        self.renew(number, at);
    }

    /// Power is back: the rebuilds go on.
    pub(super) fn renew_after_power_loss(&mut self, now: Nanos) {
        for number in 0..self.controllers.len() {
            if let Some(degraded) = &mut self.controllers[number].degraded {
                (degraded.outstanding, degraded.filling) = (0, false);
                self.renew(number, now);
            }
        }
    }

    /// Bytes that rebuilds have moved.
    pub(crate) fn rebuilt_bytes(&self) -> u64 {
        let degraded = self.controllers.iter().filter_map(|controller| controller.degraded.as_ref());
        degraded.map(|of| of.moved.0).sum::<u64>() * self.times.unit_bytes
    }

    /// Whether a rebuild has ended that nobody was told of.
    #[inline]
    pub(crate) fn has_rebuilt(&self) -> bool {
        !self.rebuilt.is_empty()
    }

    /// A rebuild that has ended, once.
    pub(crate) fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        self.rebuilt.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::die::Die;
    use super::*;
    use tameshi_base::{Command, CommandKind};
    use tameshi_spec::profile::{self, DeviceProfile, Simulated, Written};

    const CARD: &str = include_str!("../../../../../python/tameshi/data/profiles/devices/es3000-1.2t.toml");

    /// A card of 16 + 1 channels behind each controller, written once, that a channel has died of.
    fn card() -> Flash {
        let profile: DeviceProfile = toml::from_str(CARD).expect("a profile");
        let profile::Device::Flash(mut flash) = profile.device else { panic!("a flash drive") };
        flash.simulated = Simulated { scale: 256, written: Written::Once, ..Simulated::default() };
        flash.nand.read_time.value.fill(tameshi_base::Time(50_000));
        let mut card = Flash::new(&flash).expect("a card");
        assert_eq!(card.fail_channel(3, 0), Ok(true));
        card
    }

    /// Time that dies sense for a read of one mapping unit, which is told when it is asked for.
    fn sensing(card: &mut Flash, unit: u64) -> Nanos {
        let before = card.busy[0];
        let offset_bytes = unit * 4096;
        let command =
            Command { id: 0, kind: CommandKind::Read, offset_bytes, length_bytes: 4096, fua: false, stream: 0 };
        card.submit(0, &command);
        card.busy[0] - before
    }

    #[test]
    fn a_page_of_a_dead_die_takes_as_many_senses_as_its_stripe_is_wide_less_one() {
        let mut card = card();
        let (mut dead, mut alive) = (0, 0);
        // Units of different program units: what was sensed for one read is there for the next.
        for unit in (0..3 * 4 * 400).step_by(3 * 4) {
            let (number, logical) = card.route(unit);
            assert_eq!(number, 0);
            let physical = card.controllers[0].ftl.lookup(logical).expect("it was written");
            let (program_unit, _) = card.layout.program_unit(physical);
            if card.controllers[0].ftl.generation(card.layout.block(program_unit).0) > 0 {
                continue;
            }
            card.dies.iter_mut().for_each(Die::rest);
            let is_dead = card.dies[usize::from(card.place(0, program_unit).0.die)].dead;
            *(if is_dead { &mut dead } else { &mut alive }) += 1;
            assert_eq!(sensing(&mut card, unit), if is_dead { 16 * 50_000 } else { 50_000 }, "{unit}");
        }
        assert!(dead > 10 && alive > 10 * dead, "{dead} {alive}");
    }

    #[test]
    fn new_stripes_are_narrower_by_one_and_use_each_channel_that_is_left_once() {
        let card = card();
        let (places, data) = &card.controllers[0].degraded.as_ref().expect("it is").layouts[1];
        assert_eq!((*data, places.len() * 16), (15, card.layout.places.len() * 15));
        let dies = card.layout.dies_per_channel;
        let mut parities = [0; 17];
        for stripe in places.chunks(15) {
            let channel = |die: u16| u32::from(die) / dies;
            let parity = channel(stripe[14].parity - 1);
            let mut used: Vec<u32> = stripe.iter().map(|place| channel(place.die)).chain([parity]).collect();
            used.sort_unstable();
            assert_eq!(used, (0..17).filter(|&channel| channel != 3).collect::<Vec<_>>());
            parities[parity as usize] += 1;
        }
        let (least, most) =
            parities.iter().filter(|&&count| count > 0).fold((u32::MAX, 0), |(l, m), &c| (l.min(c), m.max(c)));
        assert!(most - least <= 2 * dies, "its place rotates: {parities:?}");
    }
}
