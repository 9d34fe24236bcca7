//! A flash drive: controllers, each with a translation layer over channels of dies, behind a buffer and a host link.
//!
//! A command waits in the host while the drive is full, then for its controller's next turn. A write crosses the link, takes
//! its place in the buffer, waiting until there is room, and completes; its data are mapped at once and programmed when a
//! page of each plane has come together. A read passes the electronics, senses its pages on their dies, crosses their
//! channels and the link; what is still in the buffer is read there, and what was never written takes no flash.
//!
//! Buses (channels, link) serve what they are asked in the order of asking but for what overtakes on faster dies: a transfer
//! ends when its data are there and the bus has had time for all it was asked before.
//!
//! **Reclaiming** begins when the erased blocks fall below the reserve, and keeps step with the host's writes from then on,
//! so that the reserve neither grows nor shrinks. Its senses, programs and erases wait on the same dies.
//!
//! **Durability.** With power-loss protection a write in the buffer is durable: force unit access and flushes cost no more.
//! Without it, a flush or a write with force unit access pads what has not filled its pages, and waits for the flash.

mod channel;
mod command;
mod die;
mod endurance;
mod flushes;
pub mod ftl;
mod heat;
mod hot;
mod idle;
mod layout;
mod pieces;
mod power_loss;
mod reads;
mod reclaim;
mod state;
mod supply;
mod times;
mod victims;
mod wear;
mod writes;

use super::barrier::Barrier;
use super::completion::{Breakdown, DeviceCompletion};
use super::queue_full::QueueFull;
use crate::agenda::Agenda;
use crate::fault::Rebuilt;
use crate::near::prefetch;
use die::{Die, Kind, NONE, Pending};
use endurance::Endurance;
use ftl::{Frontier, Ftl, Work};
use layout::{IN_CACHE, Layout};
use pieces::{Pieces, Programs};
use state::{Controller, Idle, MapWriting, Relocations, Slot};
use std::collections::VecDeque;
use supply::{CACHE_PROGRAM, ERASE, PROGRAM, SENSE, Supply};
use tameshi_base::{Command, Nanos, Random};
use tameshi_record::{Heat, Resource, Usage};
use tameshi_spec::profile::{FlashProfile, Simulated, Written};
use times::Times;

/// More dies, or more commands at once, are not simulated.
const MOST: u64 = 1 << 23;

/// Of fewer dies, all that waits for them stays in the processor's cache.
const MANY_DIES: usize = 32;

/// A flash drive and all that it holds.
#[derive(Debug)]
pub struct Flash {
    layout: Layout,
    times: Times,
    controllers: Vec<Controller>,
    dies: Vec<Die>,
    /// When each channel has done all it was asked so far.
    channels: Vec<Nanos>,
    pieces: Pieces,
    durables: Programs,
    /// Towards the host and towards the drive; only the first is used where data go one way at a time.
    link: [Nanos; 2],
    /// When the electronics have moved, and the link has carried, either way, all they were asked so far.
    moved: Nanos,
    crossed: Nanos,
    /// Mapping units of the buffer that are free.
    buffer_free: u64,
    /// Writes that wait for the buffer.
    for_buffer: VecDeque<u32>,
    /// Waiting in the host: command, submission, epoch.
    host: VecDeque<(Command, Nanos, u64)>,
    queue_full: QueueFull,
    held: u32,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// What happens next: to dies by their numbers, behind them to the idle drive, and then to slots.
    events: Agenda,
    first_slot: u32,
    /// How often something else happened than a completion.
    woken: u64,
    barrier: Barrier,
    /// Host programs, for the flushes of an unprotected drive.
    durable: Barrier,
    /// Where flushes wait for the map, too.
    map_writing: Option<MapWriting>,
    relocations: Relocations,
    /// Whether relocated data go to blocks of their own.
    separate: bool,
    /// Time that dies worked on reclaiming, on a rebuild, and on anything, of late.
    reclaiming: [u64; 3],
    /// Rebuilds that have ended and are not told.
    rebuilt: VecDeque<Rebuilt>,
    /// What it draws, where that is known.
    supply: Option<Supply>,
    /// Where it does something by itself.
    idle: Option<Idle>,
    /// What had been done before the run.
    before: Work,
    /// What commands have written.
    written_bytes: u64,
    /// Bytes written before the run and passes at random; done when the first command comes.
    past: Option<(u64, u32)>,
    /// Time that dies, the link (either way), controllers and channels have worked, what is ahead included.
    busy: [Nanos; 4],
    random: Random,
    endurance: Endurance,
    /// Whether it is as most are: one controller, mapping units of a power of two, blocks that are all alike, no reads that are
    /// repeated, nothing that holds them back, no electronics slower than the link.
    is_plain: bool,
}

impl Flash {
    /// An erased drive at rest, at the capacity scale that its profile was given.
    ///
    /// # Errors
    /// A sentence that names what can't be simulated.
    pub fn new(profile: &FlashProfile) -> Result<Self, String> {
        let layout = Layout::new(profile)?;
        let controllers = profile.controller.count.value;
        let dies = layout.dies();
        let of_number = |number: u32| {
            let random = Random::named(0, &format!("flash/victims/{number}"));
            Ok(Controller {
                ftl: Ftl::new(layout.shape(profile), random)?,
                next_turn: 0,
                filling: [NONE; Frontier::COUNT],
                buffered: [0; Frontier::COUNT],
                moved: 0,
                owed: 0,
                erase_debt: 0,
                erase_turn: 0,
                sensing: [NONE; 2],
                relocation: [NONE; Frontier::COUNT],
                unprogrammed: vec![0; layout.program_unit_count()],
                programs: 0,
                first_die: number * dies,
                degraded: None,
                is_uniform: profile.slc_cache.is_none(),
            })
        };
        let depth = profile.controller.queue_depth.value;
        if u64::from(dies) * u64::from(controllers) >= MOST || u64::from(depth) >= MOST {
            return Err("more dies or more commands at once than can be simulated".into());
        }
        let alone = profile.controller.flush_alone.as_ref().is_some_and(|alone| alone.value);
        let times = Times::new(profile, &layout);
        let barrier = if alone { Barrier::alone(times.write_overhead) } else { Barrier::default() };
        Ok(Self {
            is_plain: times.is_plain(profile),
            times,
            controllers: (0..controllers).map(of_number).collect::<Result<_, String>>()?,
            dies: (0..dies * controllers).map(|_| Die::new()).collect(),
            channels: vec![0; (layout.channels * controllers) as usize],
            pieces: Pieces::new((dies * controllers) as usize, (layout.channels * controllers) as usize),
            durables: Programs::new((dies * controllers) as usize, (layout.channels * controllers) as usize),
            link: [0; 2],
            moved: 0,
            crossed: 0,
            buffer_free: profile.buffer.size.value.0 / profile.mapping_unit.value.0,
            for_buffer: VecDeque::new(),
            host: VecDeque::new(),
            queue_full: QueueFull::default(),
            held: 0,
            slots: Vec::new(),
            free_slots: Vec::new(),
            events: Agenda::new(),
            first_slot: dies * controllers + 1,
            woken: 0,
            barrier,
            durable: Barrier::default(),
            map_writing: profile.buffer.map_write_time.as_ref().map(|_| MapWriting::default()),
            relocations: Relocations::default(),
            separate: profile.cleaning.separate_relocated.value,
            reclaiming: [0, 0, 1],
            rebuilt: VecDeque::new(),
            supply: profile.power.as_ref().map(|power| Supply::new(power, profile)),
            idle: profile.idle.as_ref().map(|idle| Idle::new(idle.after.value.0)),
            before: Work::default(),
            written_bytes: 0,
            past: past(profile),
            busy: [0; 4],
            random: Random::named(0, "flash/read_retry"),
            endurance: Endurance::new(profile),
            layout,
        })
    }

    #[inline]
    pub(super) fn next_wake(&self) -> Option<Nanos> {
        if !self.barrier.is_open() {
            return self.next_wake_with_flush();
        }
        let event = self.events.next();
        (event < Nanos::MAX).then_some(event)
    }

    pub(super) fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        loop {
            let event = self.events.next();
            let flush = self.next_flush().unwrap_or(Nanos::MAX);
            if event.min(flush) > now {
                return;
            }
            if flush < event {
                self.flushes(flush, completions);
                continue;
            }
            let Some((at, number)) = self.events.take() else { return };
            match number.checked_sub(self.first_slot) {
                Some(slot) => self.complete(slot, at, completions),
                None => self.die_wakes(number, at),
            }
        }
    }

    /// A command completes at `at`.
    #[inline]
    fn schedule(&mut self, at: Nanos, slot: u32) {
        self.events.add(at, self.first_slot + slot);
    }

    /// What a die does may be over; or the drive idles.
    fn die_wakes(&mut self, number: u32, at: Nanos) {
        let Some(die) = self.dies.get_mut(number as usize) else { return self.idles(at) };
        if die.end > at {
            let end = die.end;
            return self.events.add(end, number);
        }
        let Some(done) = die.now.take() else { return };
        match done.kind {
            Kind::Host => {
                self.is_programmed(number, done.unit);
                self.host_programmed(number, &done, at);
            }
            Kind::Sense => self.sensed(done.tag, at),
            Kind::Map => self.map_is_written(at),
            Kind::Relocated => self.is_programmed(number, done.unit),
            Kind::Parity | Kind::Erase => {}
        }
        if done.renews && done.unit != NONE && done.kind != Kind::Sense {
            self.renewed(number, at);
        }
        self.start_next(number, at);
    }

    /// A program unit's data are on a die and have left the buffer; parity has no unit.
    #[inline]
    fn is_programmed(&mut self, die: u32, unit: u32) {
        if unit != NONE {
            let number = self.layout.controller_of(die);
            self.controllers[number].leaves_buffer(unit);
        }
    }

    /// Gives a die something to do; part of the caller, for what was just put together field by field is slow to read as a whole.
    #[inline(always)]
    fn enqueue(&mut self, number: u32, pending: Pending, at: Nanos) {
        if self.dies[number as usize].take(pending) {
            self.start(number, at);
        }
    }

    /// An idle die begins what waits for it.
    #[inline]
    fn start_next(&mut self, number: u32, at: Nanos) {
        if self.dies[number as usize].take_next() {
            self.start(number, at);
            self.prefetch_end(number);
        }
    }

    /// A die begins what it has taken up.
    fn start(&mut self, number: u32, at: Nanos) {
        let die = &self.dies[number as usize];
        let Some(pending @ Pending { kind, page, tag, renews, ready, .. }) = die.now else { return };
        if die.dead {
            return self.pass_over(number, at);
        }
        let repeats = if kind == Kind::Sense { self.repeats_of_moved(number, pending.unit) } else { 0 };
        let (times, die) = (&self.times, &mut self.dies[number as usize]);
        let mut begin = at.max(die.read_until).max(ready);
        let (energy, work) = match kind {
            Kind::Sense => (SENSE, times.read[usize::from(page)] + Nanos::from(repeats) * times.repeat),
            Kind::Erase => (ERASE, times.erase),
            Kind::Map => (PROGRAM, times.map_write),
            _ if page == IN_CACHE => (CACHE_PROGRAM, times.program[usize::from(page)]),
            Kind::Host | Kind::Parity | Kind::Relocated => (PROGRAM, times.program[usize::from(page)]),
        };
        if let Some(supply) = &mut self.supply {
            for _ in 0..=repeats {
                begin = supply.take(energy, at, begin);
            }
        }
        let end = match kind {
            Kind::Erase => begin + work,
            kind => {
                let transfer = if kind == Kind::Sense { times.moved_transfer } else { times.program_transfer };
                let place = self.layout.channel_of(number);
                let channel = &mut self.channels[place];
                *channel = at.max(*channel) + transfer;
                self.busy[3] += transfer;
                let over = (begin + transfer).max(*channel);
                if tag != NONE && kind != Kind::Sense {
                    let write = (tag, self.slots[tag as usize].ready);
                    let on_bus = over - begin - transfer;
                    self.durables.begin(write, (number as usize, place), (on_bus, transfer, work));
                }
                over + work
            }
        };
        die.work(begin, end);
        let [reclaiming, renewing, all] = &mut self.reclaiming;
        *all += end - begin;
        self.busy[0] += end - begin;
        *(if renews { renewing } else { reclaiming }) += pending.for_moves(end - begin);
        if *all > 1 << 36 {
            self.reclaiming = self.reclaiming.map(|time| time / 2);
        }
        self.events.add(end, number);
    }

    /// Brings near what the end of something that waited for its die will need: where many wait, that has left the processor's cache.
    #[inline]
    fn prefetch_end(&self, number: u32) {
        if self.dies.len() < MANY_DIES {
            return;
        }
        let die = &self.dies[number as usize];
        // Not the next one: each may lie across two lines of the cache, of which the second is this one's first.
        if let Some(second) = die.queue.get(1) {
            prefetch(std::slice::from_ref(second), 0);
        }
        let Some(Pending { kind, unit, tag, .. }) = die.now else { return };
        match kind {
            Kind::Sense => self.relocations.prefetch(tag),
            _ => prefetch(&self.controllers[self.layout.controller_of(number)].unprogrammed, unit as usize),
        }
    }

    /// Writes the first `bytes` as if long ago: once from begin to end, then over again at random, so many times over.
    ///
    /// It takes no virtual time, and moves and erases what it must, and passes by a cache. With two to three passes at random the drive is in the
    /// steady state that it would reach under random writes of one mapping unit.
    pub fn precondition(&mut self, bytes: u64, random_passes: u32) {
        let count = self.controllers.len() as u64;
        for (number, controller) in self.controllers.iter_mut().enumerate() {
            let logical = (bytes / self.times.unit_bytes / count).min(u64::from(self.layout.logical));
            controller.ftl.bypass_cache(true);
            (0..logical).for_each(|unit| controller.ftl.write_untimed(unit as u32));
            let mut random = Random::named(0, &format!("flash/precondition/{number}"));
            for _ in 0..logical * u64::from(random_passes) {
                controller.ftl.write_untimed(random.below(logical) as u32);
            }
            controller.ftl.bypass_cache(false);
        }
        self.before = self.work();
    }

    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        let ahead = |until: Nanos| until.saturating_sub(now);
        let dies =
            self.dies.iter().map(|die| ahead(die.read_until) + die.now.map_or(0, |_| ahead(die.end.max(die.begin))));
        let ahead_of_dies: Nanos = dies.sum();
        let turns: Nanos = self.controllers.iter().map(|controller| ahead(controller.next_turn)).sum();
        let [media, link, controller, channels] = self.busy;
        let dies = self.dies.iter().filter(|die| !die.dead).count() as u64;
        usage.add(Resource::Media, dies, media.saturating_sub(ahead_of_dies));
        let transfers: Nanos = self.channels.iter().map(|&until| ahead(until)).sum();
        usage.add(Resource::Channels, self.channels.len() as u64, channels - transfers);
        usage.add(Resource::Link, 1, link.saturating_sub(ahead(self.crossed)));
        if let Some(supply) = &self.supply {
            supply.usage(now, usage);
        }
        usage.add(Resource::Controller, self.controllers.len() as u64, controller - turns);
        self.queue_full.usage(u64::from(self.times.depth), now, usage);
    }

    /// Nanojoules drawn from time zero to `now`; `None` where the profile does not say.
    pub(crate) fn energy_nj(&self, now: Nanos) -> Option<u64> {
        self.supply.as_ref().map(|supply| supply.energy_nj(now))
    }

    /// How warm it is at `now`; `None` where the profile does not say.
    pub(crate) fn heat(&self, now: Nanos) -> Option<Heat> {
        self.supply.as_ref()?.heat(now)
    }

    /// What the translation layers have done since the run's begin.
    pub fn work_since_begin(&self) -> Work {
        self.work().since(&self.before)
    }

    /// How full each controller's flash is.
    pub fn fills(&self) -> impl Iterator<Item = ftl::Fill> + '_ {
        self.controllers.iter().map(|controller| controller.ftl.fill())
    }

    /// What the translation layers have done since the drive was new.
    pub fn work(&self) -> Work {
        let mut sum = Work::default();
        for work in self.controllers.iter().map(|controller| controller.ftl.work()) {
            sum.host_units += work.host_units;
            sum.moved_units += work.moved_units;
            sum.padded_units += work.padded_units;
            sum.erases += work.erases;
        }
        sum
    }
}

/// What the study says was written before the run.
fn past(profile: &FlashProfile) -> Option<(u64, u32)> {
    let Simulated { written, used, .. } = profile.simulated;
    let bytes = (u128::from(profile.scaled_capacity().0) * u128::from(used.0) / 1_000_000) as u64;
    match written {
        Written::Never => None,
        Written::Once => Some((bytes, 0)),
        Written::Steady => Some((bytes, 3)),
    }
}

impl super::Model for Flash {
    type Inner = super::NoDevice;

    fn submit(&mut self, now: Nanos, command: &Command) {
        Self::submit(self, now, command);
    }

    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        Self::next_wake(self)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        Self::advance(self, now, completions);
    }

    fn lose_power(&mut self, now: Nanos) -> crate::fault::Loss {
        Self::lose_power(self, now)
    }

    #[inline]
    fn prefetch(&self, command: &Command) {
        Self::prefetch(self, command.offset_bytes);
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        Self::usage(self, now, usage);
    }

    fn energy_nj(&self, now: Nanos) -> Option<u64> {
        Self::energy_nj(self, now)
    }

    fn heat(&self, now: Nanos) -> Option<Heat> {
        Self::heat(self, now)
    }

    fn add_wear(&self, wear: &mut tameshi_record::Wear) {
        wear.add(&self.wear());
    }

    fn fail_channel(&mut self, _: u32, channel: u32, now: Nanos) -> Result<bool, tameshi_base::Reason> {
        Self::fail_channel(self, channel, now)
    }

    fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        Self::take_rebuilt(self)
    }

    fn rebuilt_bytes(&self) -> u64 {
        Self::rebuilt_bytes(self)
    }
}
