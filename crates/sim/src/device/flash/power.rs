//! Power of a flash drive, and its limits.
//!
//! Each sense, program and erase takes its energy on top of the idle power. Under a power limit a
//! task waits until the limit has carried the energy of earlier tasks. Host reads come on top of
//! the limit; while the drive is throttled they wait like all other tasks.

use super::thermal::Thermal;
use crate::device::pace::Pace;
use crate::device::power_draw;
use tameshi_base::{Nanos, Rate};
use tameshi_record::{self as record, Resource, Usage};
use tameshi_spec::profile;

/// Consumers of energy, by place.
pub(super) const SENSE: usize = 0;
pub(super) const PROGRAM: usize = 1;
pub(super) const ERASE: usize = 2;
pub(super) const SLC_PROGRAM: usize = 3;
const KINDS: usize = 4;

/// Power limit, and the energy that it has carried.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Milliwatts allowed beyond idling, and the time in which they carry each consumer's energy.
    beyond_mw: u64,
    carries: [Nanos; KINDS],
    /// Time of the limit used by tasks, including the time ahead; and by reads on top.
    carried: Nanos,
    on_top: Nanos,
}

impl Limit {
    fn new(limit_mw: u32, idle_mw: u32, takes_nj: [u64; KINDS]) -> Self {
        let beyond_mw = u64::from(limit_mw - idle_mw);
        // A milliwatt is a million nanojoules per second; a rate counts thousandths.
        let pace = Pace::per_second(Rate(beyond_mw * 1_000_000_000));
        Self { beyond_mw, carries: takes_nj.map(|energy| pace.time(energy)), carried: 0, on_top: 0 }
    }
}

/// Return the nanojoules of an SLC program: the power of other programs for a shorter time.
fn slc_program_nj(program_nj: u64, of: &profile::FlashProfile, cache: &profile::SlcCache) -> u64 {
    let times = &of.nand.program_time.value;
    let all: u64 = times.iter().map(|time| time.0).sum();
    program_nj * cache.program_time.value.0 * times.len() as u64 / all.max(1)
}

/// Power supply of a drive.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    idle_mw: u64,
    /// Nanojoules of a sense, a program, an erase, and an SLC program.
    takes_nj: [u64; KINDS],
    /// Limits while cool, and while throttled.
    cool: Option<Limit>,
    throttled: Option<Limit>,
    is_throttled: bool,
    /// Time at which the limit has carried the energy of all tasks so far.
    carried_at: Nanos,
    /// Nanojoules drawn without a limit.
    free_nj: u64,
    thermal: Option<Box<Thermal>>,
}

impl Supply {
    pub(super) fn new(power: &profile::Power, of: &profile::FlashProfile) -> Self {
        let [read, program, erase] = [&power.read_nj, &power.program_nj, &power.erase_nj].map(|of| u64::from(of.value));
        let takes_nj =
            [read, program, erase, of.slc_cache.as_ref().map_or(0, |cache| slc_program_nj(program, of, cache))];
        let limit = |limit_mw: u32| Limit::new(limit_mw, power.idle_mw.value, takes_nj);
        Self {
            idle_mw: u64::from(power.idle_mw.value),
            takes_nj,
            cool: power.limit_mw.as_ref().map(|limit_mw| limit(limit_mw.value)),
            throttled: power.thermal.as_ref().map(|thermal| limit(thermal.limit_mw.value)),
            is_throttled: false,
            carried_at: 0,
            free_nj: 0,
            thermal: power.thermal.as_ref().map(|of| Box::new(Thermal::new(of, power.idle_mw.value))),
        }
    }

    #[inline]
    fn limit(&mut self) -> Option<&mut Limit> {
        if self.is_throttled { self.throttled.as_mut() } else { self.cool.as_mut() }
    }

    /// Take the energy of a task that is ready at `begin`; return its begin as known at `now`.
    #[inline]
    pub(super) fn take(&mut self, what: usize, now: Nanos, begin: Nanos) -> Nanos {
        if self.thermal.is_some() {
            self.warm(what, now);
        }
        let carried_at = self.carried_at;
        let Some(limit) = self.limit() else {
            self.free_nj += self.takes_nj[what];
            return begin;
        };
        let carries = limit.carries[what];
        limit.carried += carries;
        self.carried_at = carried_at.max(now) + carries;
        begin.max(carried_at)
    }

    /// Take the energy of host senses that begin at `now`.
    #[inline]
    pub(super) fn take_on_top(&mut self, senses: u32, now: Nanos) {
        if self.thermal.is_some() {
            return (0..senses).for_each(|_| self.take_one_on_top(now));
        }
        self.add_on_top(senses);
    }

    #[inline(never)]
    fn take_one_on_top(&mut self, now: Nanos) {
        self.warm(SENSE, now);
        self.add_on_top(1);
    }

    #[inline]
    fn add_on_top(&mut self, senses: u32) {
        match self.limit() {
            Some(limit) => limit.on_top += u64::from(senses) * limit.carries[SENSE],
            None => self.free_nj += u64::from(senses) * self.takes_nj[SENSE],
        }
    }

    /// Return whether host reads wait at `now`.
    #[inline]
    pub(super) fn holds_reads(&mut self, now: Nanos) -> bool {
        if self.thermal.is_some() {
            self.cool(now);
        }
        self.is_throttled
    }

    #[inline(never)]
    fn cool(&mut self, now: Nanos) {
        let throttled = self.thermal.as_mut().is_some_and(|thermal| thermal.is_throttled(now));
        self.switch(throttled, now);
    }

    #[inline(never)]
    fn warm(&mut self, what: usize, now: Nanos) {
        let energy = self.takes_nj[what];
        let throttled = self.thermal.as_mut().is_some_and(|thermal| {
            thermal.is_throttled(now);
            thermal.warm(energy)
        });
        self.switch(throttled, now);
    }

    /// Switch limits: the energy ahead continues at the pace of the other limit, or at once without
    /// one.
    fn switch(&mut self, throttled: bool, now: Nanos) {
        if throttled == self.is_throttled {
            return;
        }
        let ahead = self.carried_at.saturating_sub(now);
        let left_nj = self.limit().map_or(0, |limit| {
            limit.carried -= ahead;
            power_draw::nanojoules(limit.beyond_mw, ahead)
        });
        self.is_throttled = throttled;
        let Some(limit) = self.limit() else {
            self.free_nj += left_nj;
            self.carried_at = now;
            return;
        };
        let ahead = left_nj * 1000 / limit.beyond_mw;
        limit.carried += ahead;
        self.carried_at = now + ahead;
    }

    /// Cancel all tasks after `now`.
    pub(super) fn stop(&mut self, now: Nanos) {
        let ahead = self.carried_at.saturating_sub(now);
        if let Some(limit) = self.limit() {
            limit.carried -= ahead;
        }
        self.carried_at = now;
    }

    /// Return for each limit its power, the time used by tasks until `now`, and the time used by
    /// reads on top.
    fn carried(&self, now: Nanos) -> [Option<(u64, Nanos, Nanos)>; 2] {
        let ahead = self.carried_at.saturating_sub(now);
        [(&self.cool, !self.is_throttled), (&self.throttled, self.is_throttled)].map(|(limit, acts)| {
            let limit = limit.as_ref()?;
            let carried = if acts { limit.carried.saturating_sub(ahead) } else { limit.carried };
            Some((limit.beyond_mw, carried, limit.on_top))
        })
    }

    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        for (limit, resource) in self.carried(now).into_iter().zip([Resource::Power, Resource::Thermal]) {
            if let Some((_, carried, _)) = limit {
                usage.add(resource, 1, carried);
            }
        }
    }

    /// Return the nanojoules drawn from time zero to `now`.
    ///
    /// The limit spreads the energy, so no stretch of time exceeds it except by host reads.
    pub(super) fn energy_nj(&self, now: Nanos) -> u64 {
        let limited = self.carried(now).into_iter().flatten();
        let limited = limited.map(|(beyond_mw, carried, on_top)| power_draw::nanojoules(beyond_mw, carried + on_top));
        power_draw::nanojoules(self.idle_mw, now) + limited.sum::<u64>() + self.free_nj
    }

    /// Return the temperature at `now`.
    pub(super) fn heat(&self, now: Nanos) -> Option<record::Heat> {
        self.thermal.as_ref().map(|thermal| thermal.report(now))
    }
}
