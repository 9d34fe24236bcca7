//! Processor time of a random 4 KiB read of one drive, with the model's arithmetic written by hand:
//! `cargo run --release -p tameshi-sim --example read_by_hand -- [MILLIONS [SCALE]]`.
//!
//! The drive is `nvme-tlc-3.84tb` at 1/128 of its capacity, or another scale, written once, at
//! queue depth 256. The code has a controller turn, a die, a channel, the link, latency parts, a
//! histogram and the digest. Its advantage over the simulated drive is the price of everything else
//! that may be there: other jobs, drives, controllers, programs, wear, power limits. Its mean
//! latency must equal that of `tameshi run` of such a study.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "it measures")]

use std::hint::black_box;
use tameshi_base::Random;
use tameshi_record::Tally;
use tameshi_sim::CalendarQueue;
use tameshi_sim::device::flash::ftl::{Ftl, Shape};
use tameshi_spec::profile::CleaningPolicy;
use xxhash_rust::xxh3::Xxh3;

const DEPTH: u32 = 256;
const AHEAD: usize = 16;
const TOGETHER: usize = 50;
/// Mapping units of the whole drive that the host sees.
const LOGICAL: u32 = 937_500_000;
/// Program units per block: 9 pages on 60 data dies, 16 units each.
const PAGES: u32 = 9;
const PER_BLOCK: u32 = PAGES * 60;
const IN_PROGRAM: u32 = 16;
const SENSE_NS: [u64; 3] = [45_000, 55_000, 65_000];
const TURN_NS: u64 = 1_000;
const OVERHEAD_NS: u64 = 10_000;
const CHANNEL_NS: u64 = 3_413;
const LINK_NS: u64 = 602;

#[derive(Clone, Copy, Default)]
struct Slot {
    began: u64,
    unit: u32,
    /// Parts: link, controller, medium.
    parts: [u64; 3],
}

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Die {
    read_until: u64,
    sensed_at: u64,
    sensed: u32,
}

/// Drive and its load.
struct Drive {
    logical: u32,
    ftl: Ftl,
    random: Random,
    ahead: [u32; AHEAD],
    place: usize,
    dies: [Die; 64],
    channels: [u64; 16],
    link: u64,
    next_turn: u64,
    /// Busy time of dies, link, controller and channels.
    busy: [u64; 4],
}

impl Drive {
    fn new(logical: u32) -> Self {
        let units_per_block = PER_BLOCK * IN_PROGRAM;
        let shape = Shape {
            logical,
            blocks: (u64::from(logical) * 1145 / 1000 / u64::from(units_per_block)) as u32 + 1,
            units_per_block,
            reserve_blocks: 8,
            separate: true,
            hot_within: None,
            policy: CleaningPolicy::Greedy,
            cache: None,
            idle_blocks: 0,
        };
        let mut ftl = Ftl::new(shape, Random::named(1, "victims")).expect("a layer");
        (0..logical).for_each(|unit| ftl.write_untimed(unit));
        let mut random = Random::named(1, "by hand");
        let ahead = [(); AHEAD].map(|()| random.below(logical.into()) as u32);
        let (dies, channels) = ([Die::default(); 64], [0; 16]);
        Self { logical, ftl, random, ahead, place: 0, dies, channels, link: 0, next_turn: 0, busy: [0; 4] }
    }

    /// Carry out a read that begins at `now`; return its end and its parts.
    #[inline(always)]
    fn read(&mut self, now: u64) -> (u64, Slot) {
        let soon = self.random.below(self.logical.into()) as u32;
        self.ftl.prefetch(soon);
        let unit = std::mem::replace(&mut self.ahead[self.place], soon);
        self.place = (self.place + 1) % AHEAD;
        let program = self.ftl.lookup(unit).expect("it was written") / IN_PROGRAM;
        let (block, rest) = (program / PER_BLOCK, program % PER_BLOCK);
        // Stripes of 15 rotate over all channels but that of their parity, and then over the dies.
        let (stripe, place) = (rest / 15, rest % 15);
        let channel = place + u32::from(place >= (stripe / 4 + stripe % 4) % 16);
        let die = &mut self.dies[(channel * 4 + stripe % 4) as usize & 63];
        let sense = SENSE_NS[((stripe / 4 + block) % 3) as usize];
        let turn = now.max(self.next_turn);
        self.next_turn = turn + TURN_NS;
        self.busy[2] += TURN_NS;
        let ready = turn + OVERHEAD_NS;
        let (sensed_at, queue) = if die.sensed == program {
            let at = ready.max(die.sensed_at);
            (at, at - ready)
        } else {
            let begin = ready.max(die.read_until);
            (die.read_until, die.sensed, die.sensed_at) = (begin + sense, program, begin + sense);
            self.busy[0] += sense;
            (begin + sense, begin - ready)
        };
        let bus = &mut self.channels[channel as usize & 15];
        *bus = now.max(*bus) + CHANNEL_NS;
        self.busy[3] += CHANNEL_NS;
        let own = (OVERHEAD_NS + sense).min(sensed_at - now);
        let at = (sensed_at - own + CHANNEL_NS).max(*bus) + own;
        let media = at - ready - queue;
        let before = self.link;
        self.link = now.max(before) + LINK_NS;
        self.busy[1] += self.link - before.max(self.link - LINK_NS);
        let own = (OVERHEAD_NS + media).min(at - now);
        let end = (at - own + LINK_NS).max(self.link) + own;
        (end, Slot { began: now, unit, parts: [LINK_NS, OVERHEAD_NS, media] })
    }
}

fn processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u32>().expect("a number"));
    let reads = u64::from(numbers.next().unwrap_or(20)) * 1_000_000;
    let drive = Drive::new(LOGICAL / numbers.next().unwrap_or(128));
    let (mut drive, mut agenda, mut slots) = (drive, CalendarQueue::new(), [Slot::default(); DEPTH as usize]);
    let (mut tally, mut hash, mut waiting) = (Tally::default(), Xxh3::new(), Vec::with_capacity(TOGETHER * 40));
    let (mut parts, mut depths, mut slowest, mut sum) = ([0u64; 4], [0u64; 32], 0u64, 0u64);
    for slot in 0..DEPTH {
        let (end, held) = drive.read(0);
        slots[slot as usize] = held;
        agenda.add(end, slot);
    }
    let begin = processor_ns();
    for _ in 0..reads {
        let (now, slot) = agenda.take().expect("some are outstanding");
        let Slot { began, unit, parts: [link, controller, media] } = slots[slot as usize];
        let latency = now - began;
        tally.record(latency);
        sum += latency;
        let spent = [latency - link - controller - media, link, controller, media];
        parts.iter_mut().zip(spent).for_each(|(sum, part)| *sum += part);
        depths[black_box(8)] += 1;
        slowest = slowest.max(latency);
        for field in [now, u64::from(unit) << 12, latency, u64::from(slot) << 32, 0] {
            waiting.extend_from_slice(&field.to_le_bytes());
        }
        if waiting.len() == TOGETHER * 40 {
            hash.update(&waiting);
            waiting.clear();
        }
        let (end, held) = drive.read(now);
        slots[slot as usize] = held;
        agenda.add(end, slot);
    }
    let ns = (processor_ns() - begin) / reads as f64;
    black_box((tally, hash.digest128(), parts, depths, slowest, drive.busy));
    println!("{{\"ns\": {ns:.1}, \"mean_latency_ns\": {:.0}}}", sum as f64 / reads as f64);
}
