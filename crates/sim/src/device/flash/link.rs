//! Host link of a drive, and the electronics that move its data.

use crate::device::pace::Pace;
use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::{Controller, FlashProfile};

/// Directions, by place: from the drive to the host, and from the host to the drive.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;

/// Transfer over a bus requested at `now`: the data arrive at `from`, `own` after the drive began
/// with them. Return its end.
///
/// The bus serves all requests as if their data arrived `own` earlier. If all data take the same
/// time to arrive, it does.
#[inline(always)]
pub(super) fn carry(bus: &mut Nanos, time: Nanos, now: Nanos, (from, own): (Nanos, Nanos)) -> Nanos {
    *bus = now.max(*bus) + time;
    (from - own + time).max(*bus) + own
}

/// Paces of the electronics by direction; `None` if they are as fast as the link.
fn electronics(controller: &Controller) -> Option<[Pace; 2]> {
    let shared = controller.shared_path.as_ref().map(|path| [&path.read_rate, &path.write_rate]);
    let rates = shared.or_else(|| controller.transfer_rate.as_ref().map(|rate| [rate, rate]));
    rates.map(|rates| rates.map(|rate| Pace::per_second(rate.value)))
}

/// Host link.
#[derive(Debug)]
pub(super) struct HostLink {
    pace: [Pace; 2],
    /// Transfer time of one mapping unit to the host.
    unit_time: Nanos,
    half_duplex: bool,
    /// Paces of the electronics, which both directions share, if slower than the link.
    electronics: Option<[Pace; 2]>,
    /// Data that cleaning moves pass the electronics too.
    moves_pass: bool,
    /// End of all requested transfers, by direction; a half-duplex link uses the first.
    until: [Nanos; 2],
    /// End of all requested work of the electronics.
    moved_until: Nanos,
    /// End of all requested transfers in either direction.
    crossed_until: Nanos,
    busy_ns: Nanos,
}

impl HostLink {
    pub(super) fn new(profile: &FlashProfile) -> Self {
        let pace = [profile.link.read_rate.value, profile.link.write_rate.value].map(Pace::per_second);
        Self {
            unit_time: pace[READ].time(profile.mapping_unit.value.0),
            pace,
            half_duplex: profile.link.half_duplex.value,
            electronics: electronics(&profile.controller),
            moves_pass: profile.controller.shared_path.is_some(),
            until: [0; 2],
            moved_until: 0,
            crossed_until: 0,
            busy_ns: 0,
        }
    }

    /// Return whether the electronics are as fast as the link.
    pub(super) fn is_plain(&self) -> bool {
        self.electronics.is_none()
    }

    /// Return whether data that cleaning moves pass the electronics.
    #[inline]
    pub(super) fn moves_pass(&self) -> bool {
        self.moves_pass
    }

    /// Pass `bytes` that cleaning has moved through the electronics, from `now` on.
    pub(super) fn pass_moved(&mut self, bytes: u64, now: Nanos) {
        if let Some(pace) = self.electronics {
            self.moved_until = now.max(self.moved_until) + pace[WRITE].time(bytes);
        }
    }

    /// Return the transfer time of `bytes` on the link alone.
    #[inline]
    pub(super) fn time(&self, direction: usize, bytes: u64) -> Nanos {
        self.pace[direction].time(bytes)
    }

    /// Transfer `bytes` that arrive at `from`, `own` after the drive began with them. Return the
    /// end, and the duration of the transfer alone.
    #[inline]
    pub(super) fn cross(
        &mut self,
        direction: usize,
        bytes: u64,
        now: Nanos,
        (from, own): (Nanos, Nanos),
    ) -> (Nanos, Nanos) {
        let time = self.pace[direction].time(bytes);
        let link = &mut self.until[if self.half_duplex { 0 } else { direction }];
        let mut at = carry(link, time, now, (from, own));
        let (mut until, mut begun) = (*link, *link - time);
        let mut alone = time;
        if let Some(pace) = self.electronics {
            let moving = pace[direction].time(bytes);
            self.moved_until = now.max(self.moved_until) + moving;
            (until, begun) = (until.max(self.moved_until), begun.min(self.moved_until - moving));
            at = at.max(self.moved_until + own);
            alone = alone.max(moving);
        }
        self.busy_ns += until.saturating_sub(begun.max(self.crossed_until));
        self.crossed_until = self.crossed_until.max(until);
        (at, alone)
    }

    /// Transfer one mapping unit to the host, with fast electronics.
    #[inline(always)]
    pub(super) fn cross_unit(&mut self, now: Nanos, (from, own): (Nanos, Nanos)) -> (Nanos, Nanos) {
        let time = self.unit_time;
        let at = carry(&mut self.until[READ], time, now, (from, own));
        let until = self.until[READ];
        self.busy_ns += until.saturating_sub((until - time).max(self.crossed_until));
        self.crossed_until = self.crossed_until.max(until);
        (at, time)
    }

    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        usage.add(Resource::Link, 1, self.busy_ns.saturating_sub(self.crossed_until.saturating_sub(now)));
    }

    /// Cancel all transfers after `now`.
    pub(super) fn stop(&mut self, now: Nanos) {
        let ahead: Nanos = self.until.iter().map(|until| until.saturating_sub(now)).sum();
        self.busy_ns = self.busy_ns.saturating_sub(ahead);
        self.until = [now; 2];
    }
}
