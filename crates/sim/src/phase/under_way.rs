//! A phase under way: its jobs in their seats, what is counted of them, and when it ends.

use super::sitting::sit_down;
use crate::database::Server;
use crate::due::Due;
use crate::seats::Seats;
use crate::world::World;
use tameshi_base::Nanos;
use tameshi_record::{Clock, IntervalStats, Rounds};
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::steady::{Detector, Round};

/// So many issues at one instant, beyond the slots there are, and time stands still.
const STANDSTILL: u64 = 1 << 20;

/// A phase under way.
pub(crate) struct Phase<'a> {
    pub(super) spec: &'a PhaseSpec,
    pub(super) index: u32,
    pub(super) seats: Seats,
    pub(super) due: Due,
    /// Per stream.
    pub(super) stats: Vec<IntervalStats>,
    pub(super) clock: Clock,
    /// Of a phase in rounds of its own.
    pub(super) detector: Option<Detector>,
    /// Per stream, what the round so far amounts to.
    pub(super) round: Vec<Round>,
    pub(super) begin: Nanos,
    /// When its time is over.
    pub(super) end: Nanos,
    /// Jobs that still have something to do.
    pub(super) active: usize,
    pub(super) bounded: bool,
    pub(super) completed: u64,
    pub(super) issued_at_once: u64,
    /// More issues at one instant, and time stands still.
    pub(super) standstill: u64,
    /// Names of the streams and kinds of transactions, each with how many jobs; those of the engine come last.
    pub(super) names: Vec<String>,
    pub(super) interval_began: Nanos,
    /// It has ended: what the engine still does counts no more.
    pub(super) over: bool,
}

impl<'a> Phase<'a> {
    /// Phase `index` of `spec`, which begins at `begin`; `round` is that of a phase that is repeated, `seats` are those of
    /// the phases before.
    pub(crate) fn new(spec: &'a RunSpec, index: usize, begin: Nanos, round: Option<u32>, mut seats: Seats) -> Self {
        let phase = &spec.phases[index];
        sit_down(spec, phase, begin, round, &mut seats);
        let mut due = Due::new(seats.len());
        seats.current().for_each(|(seat, _)| seats.set_due(seat, begin, &mut due));
        let rounds = round.map_or(phase.round().map_or(Rounds::None, Rounds::Each), Rounds::Within);
        let clock = Clock::new(begin, phase.ramp.0, spec.interval.0).in_rounds(rounds);
        let detector = |rule| Detector::new(rule, phase.subjects(index as u32));
        let mut names: Vec<String> = phase.streams.iter().map(|stream| stream.name.clone()).collect();
        names.extend(phase.programs.iter().flat_map(Server::kinds));
        let slots: u64 =
            phase.streams.iter().map(|s| u64::from(s.stream.jobs) * u64::from(s.stream.most_outstanding())).sum();
        let interval = |stream| IntervalStats::new(index as u32, stream, clock.part(begin), begin);
        Self {
            spec: phase,
            index: index as u32,
            due,
            stats: (0..names.len() as u16).map(interval).collect(),
            clock,
            detector: phase.until.steady.map(detector),
            round: vec![Round::default(); phase.streams.len()],
            begin,
            end: phase.until.time.map_or(Nanos::MAX, |time| begin.saturating_add(time.0)),
            active: seats.current().filter(|(_, seat)| !seat.job.is_done()).count(),
            bounded: phase.is_bounded(),
            standstill: if phase.is_bounded() { u64::MAX } else { STANDSTILL + slots },
            seats,
            completed: 0,
            issued_at_once: 0,
            names,
            interval_began: begin,
            over: false,
        }
    }

    /// Time goes on to `now`.
    #[inline]
    pub(super) fn enter(&mut self, world: &mut World, now: Nanos) {
        self.go_to(&mut world.now, now);
    }

    #[inline]
    pub(super) fn go_to(&mut self, clock: &mut Nanos, now: Nanos) {
        assert!(now >= *clock, "virtual time goes back from {clock} to {now}");
        if now > *clock {
            self.issued_at_once = 0;
        }
        *clock = now;
    }
}
