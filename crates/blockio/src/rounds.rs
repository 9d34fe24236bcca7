//! Rounds as seen by the writing thread: jobs' intervals are added up and judged when all have
//! reported.

use crate::error::BlockError;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{Clock, EndedBy, IntervalStats, Part, RecordError, Rounds, Writer};
use tameshi_spec::run::PhaseSpec;
use tameshi_workload::schedule::{Judgement, judge};
use tameshi_workload::steady::{Detector, Round, State};

/// Rounds that a phase consists of, or the round that it is part of.
pub(crate) fn rounds_in(phase: &PhaseSpec, round: Option<u32>) -> Rounds {
    round.map_or(phase.round().map_or(Rounds::None, Rounds::Each), Rounds::Within)
}

/// Record the judgement of a round.
pub(crate) fn record(
    writer: &mut Writer,
    at: Nanos,
    of: (&str, u32),
    judgement: &Judgement<'_>,
) -> Result<(), RecordError> {
    let verdict = judgement.verdict.as_ref().map(|verdict| json!(verdict));
    writer.round(at, of, judgement.round, json!(judgement.values), verdict)
}

/// Rounds of the current phase, or its part of a round.
#[derive(Default)]
pub(crate) struct RoundTally {
    clock: Option<Clock>,
    phase: u32,
    /// Detector of a phase with its own rounds.
    detector: Option<Detector>,
    /// Rounds not judged yet (or the only one), then streams.
    open: Vec<Vec<Round>>,
    /// Number of judged rounds.
    judged: u32,
    /// Time up to which each worker has reported; the maximum if it has ended or has no part in the
    /// phase.
    reported: Vec<Nanos>,
    /// Latest time up to which any worker has reported.
    until: Nanos,
    streams: usize,
    /// Reason of the phase's end, once it has ended.
    verdict: Option<EndedBy>,
}

impl RoundTally {
    /// Track a phase that begins at `clock`, in which `members` of `workers` threads take part.
    pub(crate) fn new(index: u32, phase: &PhaseSpec, clock: Clock, (members, workers): (&[usize], usize)) -> Self {
        let mut reported = vec![Nanos::MAX; workers];
        members.iter().for_each(|&worker| reported[worker] = 0);
        Self {
            clock: Some(clock),
            phase: index,
            detector: phase.until.steady.map(|rule| Detector::new(rule, phase.subjects(index))),
            reported,
            streams: phase.streams.len(),
            ..Self::default()
        }
    }

    /// Add one job's interval, and judge every round that is complete; return why the phase ends,
    /// if it does.
    pub(crate) fn add(
        &mut self,
        worker: usize,
        stats: &IntervalStats,
        writer: &mut Writer,
    ) -> Result<Option<EndedBy>, BlockError> {
        let (Part::Round(number), Some(clock)) = (stats.part, self.clock) else { return Ok(None) };
        let place = if self.detector.is_some() { (number - self.judged - 1) as usize } else { 0 };
        while self.open.len() <= place {
            self.open.push(vec![Round::default(); self.streams]);
        }
        self.open[place][usize::from(stats.stream)].add(&Round::of(stats.transferred()));
        self.reported[worker] = stats.end;
        self.until = self.until.max(stats.end);
        self.judge(clock, writer)
    }

    /// Note that a job has ended and reports nothing more.
    pub(crate) fn ended(&mut self, worker: usize, writer: &mut Writer) -> Result<Option<EndedBy>, BlockError> {
        let (Some(reported), Some(clock)) = (self.reported.get_mut(worker), self.clock) else { return Ok(None) };
        *reported = Nanos::MAX;
        self.judge(clock, writer)
    }

    /// Judge every complete round.
    fn judge(&mut self, clock: Clock, writer: &mut Writer) -> Result<Option<EndedBy>, BlockError> {
        while self.verdict.is_none()
            && let Some(detector) = &mut self.detector
            && !self.open.is_empty()
            && self.until >= clock.end_of_round(self.judged + 1)
            && self.reported.iter().all(|&until| until >= clock.end_of_round(self.judged + 1))
        {
            let end = clock.end_of_round(self.judged + 1);
            let mut round = self.open.remove(0);
            round.iter_mut().for_each(|of| of.length_ns = end - clock.end_of_round(self.judged));
            self.judged += 1;
            let judgement = judge(detector, &round);
            record(writer, end, ("phase", self.phase), &judgement)?;
            self.verdict = match judgement.state {
                State::Unsettled => None,
                State::Attained => Some(EndedBy::Steady),
                State::GivenUp => Some(EndedBy::Rounds),
            };
        }
        Ok(self.verdict)
    }

    /// Work of the streams, by `end`, of a phase that is part of a round.
    pub(crate) fn whole(&mut self, end: Nanos) -> Vec<Round> {
        let mut round = self.open.pop().unwrap_or_else(|| vec![Round::default(); self.streams]);
        let ramped = self.clock.map_or(0, |clock| clock.ramped());
        round.iter_mut().for_each(|of| of.length_ns = end.saturating_sub(ramped));
        round
    }
}
