//! The order of a run's phases, in rounds and out of them.

use crate::run::{RoundsSpec, RunSpec};

/// One visit of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the phase.
    pub phase: usize,
    /// Of a phase that is repeated: the place of its rounds in the spec, and the round's number,
    /// from one.
    pub round: Option<(usize, u32)>,
}

impl Step {
    /// The number of the round, if it belongs to one.
    pub fn number(&self) -> Option<u32> {
        self.round.map(|(_, number)| number)
    }
}

impl RunSpec {
    /// The run's first step; none where there is no phase.
    pub fn first_step(&self) -> Option<Step> {
        self.enter(0)
    }

    fn enter(&self, phase: usize) -> Option<Step> {
        let round = self.rounds_of(phase).map(|(place, _)| (place, 1));
        (phase < self.phases.len()).then_some(Step { phase, round })
    }

    /// The rounds of which a step begins one, with their place.
    pub fn round_beginning_with(&self, step: Step) -> Option<(usize, &RoundsSpec)> {
        let (place, _) = step.round?;
        Some((place, &self.rounds[place])).filter(|(_, rounds)| rounds.range().start == step.phase)
    }

    /// The rounds of which a step ends one, with their place.
    pub fn round_ending_with(&self, step: Step) -> Option<(usize, &RoundsSpec)> {
        let (place, _) = step.round?;
        Some((place, &self.rounds[place])).filter(|(_, rounds)| rounds.range().end == step.phase + 1)
    }

    /// Return the step after `step`. `settled`: if the step ends a round, the round was the last
    /// one whatever the spec says, because the tracked streams are steady.
    pub fn step_after(&self, step: Step, settled: bool) -> Option<Step> {
        let Some((place, number)) = step.round else { return self.enter(step.phase + 1) };
        let rounds = &self.rounds[place];
        if self.round_ending_with(step).is_none() {
            return Some(Step { phase: step.phase + 1, ..step });
        }
        if settled || number >= rounds.most() {
            return self.enter(rounds.range().end);
        }
        Some(Step { phase: rounds.range().start, round: Some((place, number + 1)) })
    }

    /// Return the step after `step` if it is certain before the step ends; at the end of a round it
    /// may depend on steady state.
    pub fn step_foreseen(&self, step: Step) -> Option<Step> {
        let open = |(_, rounds): (usize, &RoundsSpec)| rounds.steady.is_some() && step.number() < Some(rounds.most());
        if self.round_ending_with(step).is_some_and(open) { None } else { self.step_after(step, false) }
    }
}
