//! One direction of a link: rate, queue, delay, loss and cuts. It reads no clock.
//!
//! Bytes of data cross one after the other at the rate; then each packet takes half a round trip.
//! A packet that would wait behind more than the queue is dropped, as by a switch. Packets never
//! overtake each other, also when the delay becomes shorter.

use super::headers::data_bytes;
use super::messages::Change;
use super::packets::{LONGEST, Packets};
use super::spec::LinkSpec;
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use std::io;
use tameshi_base::{Nanos, Random, Slow};

/// Memory for packets under way: the queue and what is on its way, at least and at most.
const LEAST_MEMORY: u64 = 4 << 20;
const MOST_MEMORY: u64 = 64 << 20;
/// Longest lateness that the histogram tells apart.
const LONGEST_LATENESS: Nanos = 10_000_000_000;

/// Counts of packets since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Packets that arrived at the other host, and their bytes of data.
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Packets lost by chance.
    pub(super) lost: u64,
    /// Packets lost while the direction was cut, or on their way when it was.
    pub(super) cut: u64,
    /// Packets dropped because the queue was full.
    pub(super) overflowed: u64,
    /// Packets that the other host's device did not take.
    pub(super) refused: u64,
    /// Packets whose modelled time is shorter than the path's offset.
    pub(super) short: u64,
}

/// One direction of a link.
pub(super) struct Way {
    /// Half of the modelled round trip.
    half: Nanos,
    bytes_per_second: u64,
    queue_bytes: u64,
    loss: f64,
    factor: Slow,
    is_cut: bool,
    /// False: packets pass at once, so that the path itself can be measured.
    is_on: bool,
    /// Time that the path adds to each packet.
    offset: Nanos,
    /// Time from which the next bytes may cross.
    free: Nanos,
    last_due: Nanos,
    random: Random,
    packets: Packets,
    /// Place to read packets into that will be dropped.
    spare: Box<[u8]>,
    counts: Counts,
    late: Histogram<u64>,
}

impl Way {
    /// Create the direction of a link from its host `from` (0 or 1), switched off.
    ///
    /// # Errors
    /// No memory for its packets.
    pub(super) fn new(link: &LinkSpec, from: usize, seed: u64) -> io::Result<Self> {
        let (half, rate) = (link.round_trip_ns / 2, link.rate_bytes);
        let under_way = u128::from(rate) * u128::from(half) / 1_000_000_000;
        let memory = u64::try_from(under_way).unwrap_or(u64::MAX).saturating_add(2 * link.queue_bytes);
        let stream = format!("link/{}>{}", link.hosts[from], link.hosts[1 - from]);
        let late = Histogram::new_with_bounds(1, LONGEST_LATENESS, 3).map_err(io::Error::other)?;
        Ok(Self {
            half,
            bytes_per_second: rate,
            queue_bytes: link.queue_bytes,
            loss: link.loss,
            factor: Slow::NONE,
            is_cut: false,
            is_on: false,
            offset: 0,
            free: 0,
            last_due: 0,
            random: Random::named(seed, &stream),
            packets: Packets::new(memory.clamp(LEAST_MEMORY, MOST_MEMORY) as usize)?,
            spare: vec![0; LONGEST].into_boxed_slice(),
            counts: Counts::default(),
            late,
        })
    }

    /// Return the place for the next packet.
    #[inline]
    pub(super) fn buffer(&mut self) -> &mut [u8] {
        if self.packets.has_room() { self.packets.room() } else { &mut self.spare }
    }

    /// Take the packet of `length` bytes in the buffer, which arrived from the host at `now`.
    #[inline]
    pub(super) fn arrive(&mut self, now: Nanos, length: usize) {
        if self.is_cut {
            self.counts.cut += 1;
            return;
        }
        if !self.packets.has_room() {
            self.counts.overflowed += 1;
            return;
        }
        if !self.is_on {
            self.last_due = self.last_due.max(now);
            self.packets.push(length, self.last_due);
            return;
        }
        let data = data_bytes(&self.packets.room()[..length]);
        let begin = self.free.max(now);
        if begin - now > self.crossing(self.queue_bytes) {
            self.counts.overflowed += 1;
            return;
        }
        self.free = begin + self.crossing(data);
        // It has crossed when it is lost: others have waited for it.
        if self.loss > 0.0 && self.random.unit() < self.loss {
            self.counts.lost += 1;
            return;
        }
        let modelled = self.free + self.factor.wall_time(self.half);
        self.counts.short += u64::from(modelled < now + self.offset);
        self.last_due = modelled.saturating_sub(self.offset).max(now).max(self.last_due);
        self.packets.push(length, self.last_due);
    }

    /// Return the time that bytes of data take to cross.
    #[inline]
    fn crossing(&self, bytes: u64) -> Nanos {
        let time = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(self.bytes_per_second));
        self.factor.wall_time(time as Nanos)
    }

    /// Return the due time of the next packet.
    #[inline]
    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.packets.next_due()
    }

    /// Return the next packet if it is due by `now`.
    #[inline]
    pub(super) fn due(&self, now: Nanos) -> Option<&[u8]> {
        self.next_due().filter(|&due| due <= now).and_then(|_| self.packets.first())
    }

    /// Remove the next packet, which left at `now`; `is_taken`: the other host has it.
    #[inline]
    pub(super) fn depart(&mut self, now: Nanos, is_taken: bool) {
        if is_taken {
            let data = self.packets.first().map_or(0, data_bytes);
            self.counts.packets += 1;
            self.counts.bytes += data;
            let due = self.next_due().unwrap_or(now);
            self.late.saturating_record(now.saturating_sub(due));
        } else {
            self.counts.refused += 1;
        }
        self.packets.pop();
    }

    /// Change the direction's figures or its state. `offset` of `On` is in the link's time.
    pub(super) fn change(&mut self, change: Change) {
        match change {
            Change::On(offset) => (self.is_on, self.offset) = (true, offset / 2),
            Change::RoundTrip(time) => self.half = time / 2,
            Change::Rate(bytes) => self.bytes_per_second = bytes,
            Change::Loss(share) => self.loss = share,
            Change::Slow(factor) => self.factor = factor,
            Change::Cut => {
                self.is_cut = true;
                self.counts.cut += self.packets.clear();
                (self.free, self.last_due) = (0, 0);
            }
            Change::Heal => self.is_cut = false,
        }
    }

    /// Forget all counts.
    pub(super) fn reset(&mut self) {
        self.counts = Counts::default();
        self.late.reset();
    }

    /// Return the figures asked for, the state and the counts.
    pub(super) fn as_json(&self) -> Value {
        let (Counts { packets, bytes, lost, cut, overflowed, refused, short }, late) = (self.counts, &self.late);
        let at = |quantile| late.value_at_quantile(quantile);
        json!({
            "half_round_trip_ns": self.half, "rate_bytes": self.bytes_per_second, "loss": self.loss,
            "queue_bytes": self.queue_bytes, "slow": f64::from(self.factor), "is_cut": self.is_cut,
            "is_on": self.is_on, "offset_ns": self.offset,
            "packets": packets, "bytes": bytes, "lost": lost, "cut": cut, "overflowed": overflowed,
            "refused": refused, "short": short,
            "late_ns": { "p50": at(0.5), "p99": at(0.99), "p999": at(0.999), "max": late.max() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINK: (Nanos, u64) = (100_000, 100_000_000);

    fn way((round_trip_ns, rate_bytes): (Nanos, u64), loss: f64) -> Way {
        let hosts = ["left", "right"].map(String::from);
        let link = LinkSpec { hosts, ends: [0, 0], round_trip_ns, rate_bytes, loss, queue_bytes: 1 << 20 };
        let mut way = Way::new(&link, 0, 1).expect("memory");
        way.change(Change::On(0));
        way
    }

    /// Send a datagram of some bytes of data; the due time of the last packet under way.
    fn send(way: &mut Way, now: Nanos, data: usize) {
        let buffer = way.buffer();
        buffer[..28].fill(0);
        (buffer[0], buffer[9]) = (0x45, 17);
        way.arrive(now, data + 28);
    }

    fn arrivals(way: &mut Way) -> Vec<Nanos> {
        let mut times = Vec::new();
        while let Some(due) = way.next_due() {
            way.depart(due, true);
            times.push(due);
        }
        times
    }

    #[test]
    fn empty_packet_takes_half_a_round_trip() {
        let mut way = way(LINK, 0.0);
        send(&mut way, 7, 0);
        assert_eq!(way.due(50_006), None);
        assert_eq!(way.due(50_007).map(<[u8]>::len), Some(28));
        assert_eq!(arrivals(&mut way), [50_007]);
    }

    #[test]
    fn bytes_cross_one_after_the_other_at_the_rate() {
        let mut way = way(LINK, 0.0);
        for _ in 0..3 {
            send(&mut way, 0, 1000);
        }
        send(&mut way, 15_000, 0);
        assert_eq!(arrivals(&mut way), [60_000, 70_000, 80_000, 80_000]);
        assert_eq!((way.counts.packets, way.counts.bytes), (4, 3000));
    }

    #[test]
    fn offset_of_the_path_is_taken_off_as_far_as_there_is_delay() {
        let mut way = way(LINK, 0.0);
        way.change(Change::On(40_000));
        send(&mut way, 0, 0);
        assert_eq!((arrivals(&mut way), way.counts.short), (vec![30_000], 0));
        way.change(Change::On(200_000));
        send(&mut way, 40_000, 0);
        assert_eq!((arrivals(&mut way), way.counts.short), (vec![40_000], 1));
    }

    #[test]
    fn packets_beyond_the_queue_are_dropped() {
        let mut way = way(LINK, 0.0);
        for _ in 0..2000 {
            send(&mut way, 0, 1000);
        }
        // 1 MiB waits, with the packet that crosses.
        let passed = arrivals(&mut way).len() as u64;
        assert_eq!((passed, way.counts.overflowed), (1049, 951));
    }

    #[test]
    fn share_of_lost_packets_is_the_one_asked_for() {
        let lost = |seed: u64, share: f64| {
            let mut way = way(LINK, share);
            way.random = Random::named(seed, "link/left>right");
            for number in 0..100_000 {
                send(&mut way, number * 100_000, 10);
                arrivals(&mut way);
            }
            way.counts.lost
        };
        for share in [0.001, 0.02, 0.3] {
            let error = 4.0 * f64::sqrt(100_000.0 * share * (1.0 - share));
            let found = lost(1, share) as f64;
            assert!((found - 100_000.0 * share).abs() < error, "{share}: {found}");
        }
        assert_eq!(lost(1, 0.02), lost(1, 0.02), "the seed decides");
        assert_ne!(lost(1, 0.3), lost(2, 0.3));
        assert_eq!((lost(1, 0.0), lost(1, 1.0)), (0, 100_000));
    }

    #[test]
    fn cut_way_loses_what_is_on_it_until_it_is_healed() {
        let mut way = way(LINK, 0.0);
        send(&mut way, 0, 1000);
        way.change(Change::Cut);
        send(&mut way, 10, 1000);
        assert_eq!((arrivals(&mut way), way.counts.cut), (vec![], 2));
        way.change(Change::Heal);
        send(&mut way, 20, 1000);
        assert_eq!(arrivals(&mut way), [60_020]);
    }

    #[test]
    fn shorter_delay_lets_no_packet_overtake() {
        let mut way = way(LINK, 0.0);
        send(&mut way, 0, 0);
        way.change(Change::RoundTrip(20_000));
        send(&mut way, 1, 0);
        send(&mut way, 45_000, 0);
        assert_eq!(arrivals(&mut way), [50_000, 50_000, 55_000]);
    }

    #[test]
    fn slow_link_takes_the_factor_of_delay_and_crossing() {
        let mut way = way(LINK, 0.0);
        way.change(Change::Slow(Slow::new(10.0).expect("a factor in range")));
        send(&mut way, 0, 1000);
        assert_eq!(arrivals(&mut way), [600_000]);
    }

    #[test]
    fn switched_off_way_passes_packets_at_once() {
        let mut way = way(LINK, 1.0);
        way.is_on = false;
        send(&mut way, 3, 1000);
        assert_eq!(arrivals(&mut way), [3]);
    }

    #[test]
    fn device_that_takes_no_packet_is_counted() {
        let mut way = way(LINK, 0.0);
        send(&mut way, 0, 5);
        way.depart(50_000, false);
        assert_eq!((way.counts.refused, way.counts.packets), (1, 0));
        way.reset();
        assert_eq!(way.counts, Counts::default());
    }

    proptest! {
        /// Packets are conserved and keep their order; none is faster than light and rate allow.
        #[test]
        fn packets_are_conserved_in_order_at_the_rate(
            sent in prop::collection::vec((0..30_000_u64, 0..1400_usize), 1..400),
            rate in 1_000_000..2_000_000_000_u64,
        ) {
            let mut way = way((200_000, rate), 0.1);
            let (mut now, mut bytes) = (0, 0);
            for (gap, data) in &sent {
                now += gap;
                bytes += *data as u64;
                send(&mut way, now, *data);
            }
            let times = arrivals(&mut way);
            prop_assert!(times.is_sorted());
            let counts = way.counts;
            prop_assert_eq!(counts.packets + counts.lost + counts.overflowed, sent.len() as u64);
            prop_assert!(counts.bytes <= bytes);
            if let (Some(first), Some(last)) = (times.first(), times.last()) {
                prop_assert!(*first >= 100_000);
                let crossing = u128::from(counts.bytes) * 1_000_000_000 / u128::from(rate);
                prop_assert!(u128::from(*last) + 100_000 >= crossing);
            }
        }
    }
}
