//! Rounds as the writing thread sees them: the jobs' intervals added up, and judged when all have reported.

use crate::error::BlockError;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{Clock, EndedBy, IntervalStats, Part, RecordError, Rounds, Writer};
use tameshi_spec::run::PhaseSpec;
use tameshi_workload::schedule::{Judgement, judge};
use tameshi_workload::steady::{Detector, Round, State};

/// The rounds that a phase consists of, or the one that it is part of.
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

/// The rounds of a phase under way, or its part of a round.
#[derive(Default)]
pub(crate) struct RoundTally {
    clock: Option<Clock>,
    phase: u32,
    /// Of a phase in rounds of its own.
    detector: Option<Detector>,
    /// Per round not judged yet (or for the only one), then per stream.
    open: Vec<Vec<Round>>,
    /// Rounds judged.
    judged: u32,
    /// Per worker, until when it has reported; for ever when it has ended, or has no part in the phase.
    reported: Vec<Nanos>,
    /// Until when any has.
    until: Nanos,
    streams: usize,
    /// Why the phase is over, once it is.
    verdict: Option<EndedBy>,
}

impl RoundTally {
    /// For a phase that begins when `clock` says, in which these of so many workers have a part.
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

    /// Takes one job's interval, and judges every round that is whole now; why the phase is over then, if it is.
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

    /// A job has ended: nobody waits for its reports any more.
    pub(crate) fn ended(&mut self, worker: usize, writer: &mut Writer) -> Result<Option<EndedBy>, BlockError> {
        let (Some(reported), Some(clock)) = (self.reported.get_mut(worker), self.clock) else { return Ok(None) };
        *reported = Nanos::MAX;
        self.judge(clock, writer)
    }

    /// Judges every round that is whole.
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

    /// What the streams of a phase that is part of a round did, by its end.
    pub(crate) fn whole(&mut self, end: Nanos) -> Vec<Round> {
        let mut round = self.open.pop().unwrap_or_else(|| vec![Round::default(); self.streams]);
        let ramped = self.clock.map_or(0, |clock| clock.ramped());
        round.iter_mut().for_each(|of| of.length_ns = end.saturating_sub(ramped));
        round
    }
}
