//! What a flash drive draws, and what it may.
//!
//! Each sense, program and erase takes its energy beside what the drive idles with. Where only so much may be drawn, one waits until the
//! power allowed has carried what was begun before. The host's reads come on top, but while the drive is throttled: then they wait
//! like everything else that takes the flash.

use super::heat::Heat;
use crate::device::pace::Pace;
use crate::device::power_draw;
use tameshi_base::{Nanos, Rate};
use tameshi_record::{self as record, Resource, Usage};
use tameshi_spec::profile;

/// What takes energy, by its place.
pub(super) const SENSE: usize = 0;
pub(super) const PROGRAM: usize = 1;
pub(super) const ERASE: usize = 2;
pub(super) const CACHE_PROGRAM: usize = 3;
const KINDS: usize = 4;

/// A limit of the power, and what it has carried.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Milliwatts allowed beyond idling, and the time for which they carry each of what takes energy.
    beyond_mw: u64,
    carries: [Nanos; KINDS],
    /// For how long it has had to carry what was begun, what is ahead included; and what came on top, without waiting.
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

/// Nanojoules of a program of a cache: it draws as much as others, for a shorter time.
fn in_cache(program_nj: u64, of: &profile::FlashProfile, cache: &profile::SlcCache) -> u64 {
    let times = &of.nand.program_time.value;
    let all: u64 = times.iter().map(|time| time.0).sum();
    program_nj * cache.program_time.value.0 * times.len() as u64 / all.max(1)
}

/// The drive's supply.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    idle_mw: u64,
    /// Nanojoules of a sense, a program, an erase, and a program of a cache.
    takes_nj: [u64; KINDS],
    /// What holds it back while it is cool, and while it is throttled.
    cool: Option<Limit>,
    throttled: Option<Limit>,
    is_throttled: bool,
    /// When the power allowed has carried all that was begun so far.
    carried_at: Nanos,
    /// Nanojoules of what nothing held back.
    free_nj: u64,
    heat: Option<Box<Heat>>,
}

impl Supply {
    pub(super) fn new(power: &profile::Power, of: &profile::FlashProfile) -> Self {
        let [read, program, erase] = [&power.read_nj, &power.program_nj, &power.erase_nj].map(|of| u64::from(of.value));
        let takes_nj = [read, program, erase, of.slc_cache.as_ref().map_or(0, |cache| in_cache(program, of, cache))];
        let limit = |limit_mw: u32| Limit::new(limit_mw, power.idle_mw.value, takes_nj);
        Self {
            idle_mw: u64::from(power.idle_mw.value),
            takes_nj,
            cool: power.limit_mw.as_ref().map(|limit_mw| limit(limit_mw.value)),
            throttled: power.thermal.as_ref().map(|thermal| limit(thermal.limit_mw.value)),
            is_throttled: false,
            carried_at: 0,
            free_nj: 0,
            heat: power.thermal.as_ref().map(|thermal| Box::new(Heat::new(thermal, power.idle_mw.value))),
        }
    }

    #[inline]
    fn limit(&mut self) -> Option<&mut Limit> {
        if self.is_throttled { self.throttled.as_mut() } else { self.cool.as_mut() }
    }

    /// Something that takes energy begins no sooner than `begin`, as it is known at `now`: when it does.
    #[inline]
    pub(super) fn take(&mut self, what: usize, now: Nanos, begin: Nanos) -> Nanos {
        if self.heat.is_some() {
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

    /// So many senses for the host begin at `now`.
    #[inline]
    pub(super) fn take_on_top(&mut self, senses: u32, now: Nanos) {
        if self.heat.is_some() {
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

    /// Whether the host's reads wait at `now`.
    #[inline]
    pub(super) fn holds_reads(&mut self, now: Nanos) -> bool {
        if self.heat.is_some() {
            self.cool(now);
        }
        self.is_throttled
    }

    #[inline(never)]
    fn cool(&mut self, now: Nanos) {
        let throttled = self.heat.as_mut().is_some_and(|heat| heat.is_throttled(now));
        self.turn(throttled, now);
    }

    #[inline(never)]
    fn warm(&mut self, what: usize, now: Nanos) {
        let energy = self.takes_nj[what];
        let throttled = self.heat.as_mut().is_some_and(|heat| {
            heat.is_throttled(now);
            heat.warm(energy)
        });
        self.turn(throttled, now);
    }

    /// What is ahead goes on at the pace of the other limit, or at once where there is none.
    fn turn(&mut self, throttled: bool, now: Nanos) {
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

    /// Power fails at `now`: what is ahead is not drawn.
    pub(super) fn rest(&mut self, now: Nanos) {
        let ahead = self.carried_at.saturating_sub(now);
        if let Some(limit) = self.limit() {
            limit.carried -= ahead;
        }
        self.carried_at = now;
    }

    /// For how long each limit has carried something until `now`, reads on top or not.
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

    /// Nanojoules drawn from time zero to `now`.
    ///
    /// What a limit holds back is carried as fast as it allows, so that no stretch of time shows more than that but for the
    /// host's reads.
    pub(super) fn energy_nj(&self, now: Nanos) -> u64 {
        let limited = self.carried(now).into_iter().flatten();
        let limited = limited.map(|(beyond_mw, carried, on_top)| power_draw::nanojoules(beyond_mw, carried + on_top));
        power_draw::nanojoules(self.idle_mw, now) + limited.sum::<u64>() + self.free_nj
    }

    /// How warm the drive is at `now`.
    pub(super) fn heat(&self, now: Nanos) -> Option<record::Heat> {
        self.heat.as_ref().map(|heat| heat.told(now))
    }
}
