//! Schedule of a run: its phases in order, and rounds of phases that repeat until they are steady.

use crate::steady::{Detector, Findings, Round, RoundValues, State, SteadyRule, Subject};
use std::ops::Range;

/// One visit of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the phase.
    pub phase: usize,
    /// For a phase that repeats: index of its rounds, and number of the round, from one.
    pub round: Option<(usize, u32)>,
}

impl Step {
    /// Number of the round, if the step belongs to one.
    pub fn number(&self) -> Option<u32> {
        self.round.map(|(_, number)| number)
    }
}

/// Phases that repeat together.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    /// Indices of the phases.
    pub phases: Range<usize>,
    /// Number of rounds, at most.
    pub max_rounds: u32,
    /// Indices of the phases that the steady-state rule judges.
    pub tracked: Vec<usize>,
    /// Rule that ends the rounds, and the streams that it judges.
    pub steady: Option<(SteadyRule, Vec<Subject>)>,
}

/// Order of a run's phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    phases: usize,
    rounds: Vec<Repeated>,
}

impl Schedule {
    /// Schedule of *n* phases, of which some repeat; no phase belongs to two rounds.
    pub fn new(phases: usize, rounds: Vec<Repeated>) -> Self {
        Self { phases, rounds }
    }

    /// First step; `None` if the run has no phase.
    pub fn first(&self) -> Option<Step> {
        self.enter(0)
    }

    /// Step after `step`. `settled`: the round that ends with `step` is the last one, because the
    /// tracked streams are steady or have had all their rounds.
    pub fn after(&self, step: Step, settled: bool) -> Option<Step> {
        let Some((index, number)) = step.round else { return self.enter(step.phase + 1) };
        let rounds = &self.rounds[index];
        if step.phase + 1 < rounds.phases.end {
            return Some(Step { phase: step.phase + 1, ..step });
        }
        if settled || number >= rounds.max_rounds {
            return self.enter(rounds.phases.end);
        }
        Some(Step { phase: rounds.phases.start, round: Some((index, number + 1)) })
    }

    /// Step after `step`, if it is certain before `step` has ended.
    ///
    /// At the end of a round it may depend on whether the tracked streams are steady.
    pub fn foreseen(&self, step: Step) -> Option<Step> {
        let is_open = |index: usize| {
            let rounds = &self.rounds[index];
            rounds.steady.is_some() && step.number() < Some(rounds.max_rounds)
        };
        if self.round_ending_with(step).is_some_and(is_open) { None } else { self.after(step, false) }
    }

    fn enter(&self, phase: usize) -> Option<Step> {
        let index = self.rounds.iter().position(|rounds| rounds.phases.contains(&phase));
        (phase < self.phases).then_some(Step { phase, round: index.map(|index| (index, 1)) })
    }

    fn round_ending_with(&self, step: Step) -> Option<usize> {
        let (index, _) = step.round?;
        (self.rounds[index].phases.end == step.phase + 1).then_some(index)
    }
}

/// Judgement of a round by its steady-state rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement<'a> {
    /// Unsettled if another round follows.
    pub state: State,
    /// Number of the round, from one.
    pub round: u32,
    /// Values of the tracked streams in the round.
    pub values: Vec<RoundValues<'a>>,
    /// Checks of the last window, if no round follows.
    pub verdict: Option<Findings<'a>>,
}

/// Add a round to a detector and judge it.
pub fn judge<'a>(detector: &'a mut Detector, round: &[Round]) -> Judgement<'a> {
    let state = detector.add(round);
    Judgement { state, round: detector.rounds(), values: detector.values(), verdict: detector.verdict(state) }
}

/// Position in a schedule, and the results of the round so far.
#[derive(Clone, Debug)]
pub struct Cursor {
    schedule: Schedule,
    step: Step,
    detector: Option<Detector>,
    results: Vec<Round>,
    settled: bool,
}

impl Cursor {
    /// Cursor at the first step; `None` if the run has no phase.
    pub fn new(schedule: Schedule) -> Option<Self> {
        let step = schedule.first()?;
        Some(Self { schedule, step, detector: None, results: Vec::new(), settled: false })
    }

    /// Current step.
    pub fn step(&self) -> Step {
        self.step
    }

    /// Next step, if it is certain already.
    pub fn foreseen(&self) -> Option<Step> {
        self.schedule.foreseen(self.step)
    }

    /// Begin the current step. If a round begins with it, return the index of the rounds and the
    /// number of the round.
    pub fn begin(&mut self) -> Option<(usize, u32)> {
        let (index, number) = self.step.round?;
        let rounds = &self.schedule.rounds[index];
        if rounds.phases.start != self.step.phase {
            return None;
        }
        self.results.clear();
        if number == 1 {
            self.detector = rounds.steady.as_ref().map(|(rule, subjects)| Detector::new(*rule, subjects.clone()));
        }
        Some((index, number))
    }

    /// End the current step; `results` are those of its streams. If a judged round ends with it,
    /// return the index of the rounds and the judgement.
    pub fn end(&mut self, results: Vec<Round>) -> Option<(usize, Judgement<'_>)> {
        self.settled = false;
        if let Some((index, _)) = self.step.round
            && self.schedule.rounds[index].tracked.contains(&self.step.phase)
        {
            self.results.extend(results);
        }
        let index = self.schedule.round_ending_with(self.step)?;
        let judgement = judge(self.detector.as_mut()?, &self.results);
        self.settled = judgement.state != State::Unsettled;
        Some((index, judgement))
    }

    /// Move to the next step and return it; `None` after the last one.
    pub fn advance(&mut self) -> Option<Step> {
        self.step = self.schedule.after(self.step, self.settled)?;
        Some(self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One phase, two phases that repeat, and one phase.
    fn schedule(max_rounds: u32, steady: Option<SteadyRule>) -> Schedule {
        let subjects = vec![Subject { phase: 2, stream: "load".into() }];
        let steady = steady.map(|rule| (rule, subjects));
        Schedule::new(4, vec![Repeated { phases: 1..3, max_rounds, tracked: vec![2], steady }])
    }

    fn rule(max_rounds: u32) -> SteadyRule {
        SteadyRule { rounds: 2, max_rounds, ..SteadyRule::default() }
    }

    fn round(operations: u64) -> Vec<Round> {
        vec![Round {
            operations,
            bytes: operations * 4096,
            latency_ns_sum: operations * 1000,
            length_ns: 1_000_000_000,
        }]
    }

    /// Phases of a run whose round *n* makes `operations(n)`; with the numbers of judged rounds.
    fn visits(schedule: Schedule, operations: impl Fn(u32) -> u64) -> (Vec<usize>, Vec<u32>) {
        let mut cursor = Cursor::new(schedule).expect("a phase");
        let (mut phases, mut judged) = (Vec::new(), Vec::new());
        loop {
            cursor.begin();
            let step = cursor.step();
            phases.push(step.phase);
            judged.extend(cursor.end(round(operations(step.number().unwrap_or(0)))).map(|(_, of)| of.round));
            if cursor.advance().is_none() {
                return (phases, judged);
            }
        }
    }

    #[test]
    fn rounds_without_rule_repeat_max_rounds_times() {
        assert_eq!(visits(schedule(3, None), |_| 5), (vec![0, 1, 2, 1, 2, 1, 2, 3], vec![]));
        assert!(Cursor::new(Schedule::new(0, vec![])).is_none());
    }

    #[test]
    fn rounds_end_when_tracked_stream_is_steady() {
        let (phases, judged) = visits(schedule(9, Some(rule(9))), |number| [0, 10, 50, 100, 100][number as usize % 5]);
        assert_eq!((phases.len(), judged), (1 + 2 * 4 + 1, vec![1, 2, 3, 4]));
        let (phases, judged) = visits(schedule(3, Some(rule(3))), |number| u64::from(1 + number * number));
        assert_eq!((phases.len(), judged), (1 + 2 * 3 + 1, vec![1, 2, 3]), "rounds are given up");
    }

    #[test]
    fn end_of_judged_round_is_not_foreseen() {
        let (open, fixed) = (schedule(3, Some(rule(3))), schedule(3, None));
        let step = |phase, number| Step { phase, round: Some((0, number)) };
        assert_eq!(open.foreseen(step(2, 1)), None);
        assert_eq!(fixed.foreseen(step(2, 1)), Some(step(1, 2)));
        assert_eq!(open.foreseen(step(1, 1)), Some(step(2, 1)));
        assert_eq!(open.foreseen(step(2, 3)), Some(Step { phase: 3, round: None }));
        assert_eq!(open.foreseen(Step { phase: 0, round: None }), Some(step(1, 1)));
    }
}
