//! State of the current phase: its jobs, its statistics and its end.

use super::job_table::JobTable;
use super::ready_tree::ReadyTree;
use super::start_jobs::start_jobs;
use super::world::World;
use crate::database::Server;
use tameshi_base::Nanos;
use tameshi_record::{Clock, IntervalStats, Rounds};
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::steady::{Detector, Round};

/// Issues at one instant, beyond the number of command slots, after which time stands still.
const STANDSTILL: u64 = 1 << 20;

/// State of the current phase.
pub(crate) struct Phase<'a> {
    pub(crate) spec: &'a PhaseSpec,
    pub(crate) index: u32,
    pub(super) jobs: JobTable,
    pub(super) due: ReadyTree,
    /// Per stream.
    pub(crate) stats: Vec<IntervalStats>,
    /// Boundaries of intervals and rounds.
    pub(super) clock: Clock,
    /// Detector of a phase that consists of rounds.
    pub(super) detector: Option<Detector>,
    /// Per stream, sums of the round so far.
    pub(super) round: Vec<Round>,
    pub(crate) begin: Nanos,
    /// Time limit; [`Nanos::MAX`] if there is none.
    pub(crate) end: Nanos,
    /// Jobs that still have something to do.
    pub(super) active: usize,
    /// The phase ends when its jobs have moved an amount of bytes.
    pub(crate) bounded: bool,
    pub(super) completed: u64,
    pub(super) issued_at_once: u64,
    /// Largest number of issues at one instant.
    pub(super) standstill: u64,
    /// Names of the streams, followed by the kinds of transactions.
    pub(super) names: Vec<String>,
    pub(super) interval_begin: Nanos,
    /// The phase has ended: transactions count in the digest only.
    pub(super) is_over: bool,
}

impl<'a> Phase<'a> {
    /// Begin phase `index` of `spec`; `round` is its round if it repeats, `jobs` those of earlier
    /// phases.
    pub(super) fn new(spec: &'a RunSpec, index: usize, begin: Nanos, round: Option<u32>, mut jobs: JobTable) -> Self {
        let phase = &spec.phases[index];
        start_jobs(spec, phase, begin, round, &mut jobs);
        let mut due = ReadyTree::new(jobs.len());
        jobs.current().for_each(|(job, _)| jobs.set_due(job, begin, &mut due));
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
            active: jobs.current().filter(|(_, slot)| !slot.job.is_done()).count(),
            bounded: phase.is_bounded(),
            standstill: if phase.is_bounded() { u64::MAX } else { STANDSTILL + slots },
            jobs,
            completed: 0,
            issued_at_once: 0,
            names,
            interval_begin: begin,
            is_over: false,
        }
    }

    /// Advance virtual time to `now`.
    #[inline]
    pub(crate) fn enter(&mut self, world: &mut World, now: Nanos) {
        self.advance(&mut world.now, now);
    }

    #[inline]
    pub(super) fn advance(&mut self, clock: &mut Nanos, now: Nanos) {
        assert!(now >= *clock, "virtual time goes back from {clock} to {now}");
        if now > *clock {
            self.issued_at_once = 0;
        }
        *clock = now;
    }
}
