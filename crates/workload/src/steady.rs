//! Steady state as SNIA's Solid State Storage Performance Test Specification defines it (PTS 2.0.2,
//! section 2.1.24).
//!
//! Over the last five rounds, of each tracked variable: the largest value exceeds the smallest by
//! 20 % of their mean at most, and the line fitted by least squares rises or falls over the window
//! by 10 % of it at most. The decision is made in whole numbers, so it is the same on every
//! machine; the additional figures (fit, correlation) decide nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::Nanos;
use tameshi_base::units::{Share, Time};

/// When a phase, or phases repeated as rounds, have reached steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SteadyRule {
    /// Length of a round; only for a phase that is divided into rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<Time>,
    /// Rounds in the window that is judged, and that estimates are then taken over.
    pub rounds: u32,
    /// Largest minus smallest value, as a share of the mean, at most.
    pub range: Share,
    /// Rise or fall of the fitted line over the window, as a share of the mean, at most.
    pub slope: Share,
    /// Limits that are no shares of the mean, in place of `range` and `slope`; for one tracked
    /// variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute: Option<Absolute>,
    /// Round after which it ends anyway; the verdict then says that steady state was not attained.
    pub max_rounds: u32,
    /// Variables that must be steady, of every stream at once.
    pub track: Track,
}

impl Default for SteadyRule {
    fn default() -> Self {
        Self {
            round: None,
            rounds: 5,
            range: Share(200_000),
            slope: Share(100_000),
            absolute: None,
            max_rounds: 25,
            track: Track::default(),
        }
    }
}

/// Largest distance between the values of a window: in operations or bytes per second, or in
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Absolute {
    /// Largest minus smallest value, at most; absent: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<u64>,
    /// Rise or fall of the fitted line over the window, at most; absent: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<u64>,
}

/// A quantity that is tracked from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variable {
    /// Reads and writes per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean latency of reads and writes.
    Latency,
}

/// Tracked variables; written as a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Vec<Variable>", into = "Vec<Variable>")]
#[schemars(with = "Vec<Variable>")]
pub struct Track([bool; 3]);

impl Default for Track {
    /// All of them.
    fn default() -> Self {
        Self([true; 3])
    }
}

impl From<Vec<Variable>> for Track {
    fn from(variables: Vec<Variable>) -> Self {
        Self(Variable::ALL.map(|variable| variables.contains(&variable)))
    }
}

impl From<Track> for Vec<Variable> {
    fn from(track: Track) -> Self {
        track.variables().collect()
    }
}

impl Track {
    /// Those that are tracked.
    pub fn variables(self) -> impl Iterator<Item = Variable> {
        Variable::ALL.into_iter().zip(self.0).filter_map(|(variable, tracked)| tracked.then_some(variable))
    }
}

impl Variable {
    /// Every variable there is.
    pub const ALL: [Self; 3] = [Self::Iops, Self::Bandwidth, Self::Latency];

    /// The word in studies and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Bandwidth => "bandwidth",
            Self::Latency => "latency",
        }
    }
}

/// Work of a stream in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Reads and writes completed.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_ns_sum: u64,
    /// Length of the round.
    pub length_ns: Nanos,
}

impl Round {
    /// The value of `variable` in thousandths of 1/s, B/s or ns.
    pub fn thousandths(&self, variable: Variable) -> u64 {
        let (value, scale, over) = match variable {
            Variable::Iops => (self.operations, 1_000_000_000_000, self.length_ns),
            Variable::Bandwidth => (self.bytes, 1_000_000_000_000, self.length_ns),
            Variable::Latency => (self.latency_ns_sum, 1_000, self.operations),
        };
        u64::try_from(u128::from(value) * scale / u128::from(over.max(1))).unwrap_or(u64::MAX)
    }

    /// Return the round of that many operations and bytes with this sum of latencies; its length is
    /// not known yet.
    pub fn of((operations, bytes, latency_ns_sum): (u64, u64, u64)) -> Self {
        Self { operations, bytes, latency_ns_sum, length_ns: 0 }
    }

    /// Add the work of another job, or of a later part of the round; the length stays.
    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.latency_ns_sum += other.latency_ns_sum;
    }
}

/// One variable over one window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Both criteria are met.
    pub holds: bool,
    /// Mean of the window.
    pub mean: f64,
    /// Largest minus smallest.
    pub range: f64,
    /// Largest accepted range.
    pub range_allowed: f64,
    /// Rise of the fitted line over the window; negative where it falls.
    pub slope_excursion: f64,
    /// Largest accepted slope, either way.
    pub slope_allowed: f64,
    /// Slope of the fitted line, per round.
    pub slope: f64,
    /// The fitted line in the window's first round.
    pub intercept: f64,
    /// Coefficient of correlation of the values with the rounds' numbers; zero where all are equal.
    pub correlation: f64,
}

/// Judges a window of values in thousandths of their unit by the limits of `rule`; what is reported
/// is in units.
pub fn check(values: &[u64], rule: &SteadyRule) -> Check {
    let (range, slope) = (rule.range, rule.slope);
    let count = values.len() as i128;
    let value = |index: usize| i128::from(values[index]);
    let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
    let excursion = i128::from(values.iter().max().copied().unwrap_or(0) - values.iter().min().copied().unwrap_or(0));
    // Least squares over the rounds 0, 1, .. n-1: slope = covariance / variance, both multiplied by
    // n².
    let places = count * (count - 1) / 2;
    let variance = count * (count * (count - 1) * (2 * count - 1) / 6) - places * places;
    let covariance = count * (0..values.len()).map(|index| index as i128 * value(index)).sum::<i128>() - places * sum;
    let million = 1_000_000;
    let (in_range, flat) = match rule.absolute {
        None => (
            excursion * count * million <= i128::from(range.0) * sum,
            covariance.abs() * (count - 1) * count * million <= i128::from(slope.0) * sum * variance,
        ),
        Some(limit) => (
            limit.range.is_none_or(|range| excursion <= i128::from(range) * 1000),
            limit.slope.is_none_or(|slope| covariance.abs() * (count - 1) <= i128::from(slope) * 1000 * variance),
        ),
    };
    let mean = sum as f64 / count.max(1) as f64;
    let tilt = if variance == 0 { 0.0 } else { covariance as f64 / variance as f64 };
    let spread: i128 = count * values.iter().map(|&value| i128::from(value).pow(2)).sum::<i128>() - sum * sum;
    let both = (variance as f64 * spread as f64).sqrt();
    let of_mean = |share: Share, absolute: Option<u64>| {
        let relative = mean * f64::from(share.0) / 1e6 / 1e3;
        if rule.absolute.is_some() { absolute.map_or(mean / 1e3, |limit| limit as f64) } else { relative }
    };
    Check {
        holds: in_range && flat,
        mean: mean / 1e3,
        range: excursion as f64 / 1e3,
        range_allowed: of_mean(range, rule.absolute.and_then(|limit| limit.range)),
        slope_excursion: tilt * (count - 1) as f64 / 1e3,
        slope_allowed: of_mean(slope, rule.absolute.and_then(|limit| limit.slope)),
        slope: tilt / 1e3,
        intercept: (mean - tilt * (count - 1) as f64 / 2.0) / 1e3,
        correlation: if both > 0.0 { covariance as f64 / both } else { 0.0 },
    }
}

/// State of the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Go on.
    Unsettled,
    /// The last window is steady.
    Attained,
    /// The most rounds are over and the last window is not steady.
    GivenUp,
}

/// Tracked stream of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Index of the phase in the run.
    pub phase: u32,
    /// Name of the stream.
    pub stream: String,
}

/// A subject's last round, as the record tells it: 1/s, B/s, ns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundValues<'a> {
    /// Index of the phase in the run.
    pub phase: u32,
    /// Name of the stream.
    pub stream: &'a str,
    /// Reads and writes per second.
    pub iops: f64,
    /// Bytes per second.
    pub bandwidth: f64,
    /// Mean latency.
    pub latency: f64,
}

/// A tracked variable over the window, as the record tells it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked<'a> {
    /// Index of the phase in the run.
    pub phase: u32,
    /// Name of the stream.
    pub stream: &'a str,
    /// Tracked variable.
    pub variable: Variable,
    /// Result.
    pub found: Check,
}

/// End of the rounds, as the record shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings<'a> {
    /// True if the last window is steady.
    pub attained: bool,
    /// Rounds made.
    pub rounds: u32,
    /// First round of the window.
    pub first: u32,
    /// Last round of the window.
    pub last: u32,
    /// Each tracked variable over the window.
    pub checks: Vec<Checked<'a>>,
}

/// Follows the rounds of some subjects until all are steady in one window.
#[derive(Clone, Debug)]
pub struct Detector {
    rule: SteadyRule,
    subjects: Vec<Subject>,
    /// Per subject, then per round.
    history: Vec<Vec<Round>>,
}

impl Detector {
    /// Judges `subjects` by `rule`.
    pub fn new(rule: SteadyRule, subjects: Vec<Subject>) -> Self {
        Self { rule, history: vec![Vec::new(); subjects.len()], subjects }
    }

    /// Takes a round: one entry for each subject.
    pub fn add(&mut self, round: &[Round]) -> State {
        assert_eq!(round.len(), self.history.len(), "a round tells of every subject");
        self.history.iter_mut().zip(round).for_each(|(history, round)| history.push(*round));
        let made = self.rounds();
        if made >= self.rule.rounds && self.is_steady() {
            State::Attained
        } else if made >= self.rule.max_rounds {
            State::GivenUp
        } else {
            State::Unsettled
        }
    }

    /// Rounds taken.
    pub fn rounds(&self) -> u32 {
        self.history.first().map_or(0, |history| history.len() as u32)
    }

    /// First and last round of the window, from one.
    pub fn window(&self) -> (u32, u32) {
        (self.rounds().saturating_sub(self.rule.rounds) + 1, self.rounds())
    }

    /// The last round of each subject.
    pub fn values(&self) -> Vec<RoundValues<'_>> {
        let last =
            self.subjects.iter().zip(&self.history).filter_map(|(subject, rounds)| Some((subject, rounds.last()?)));
        last.map(|(subject, round)| {
            let [iops, bandwidth, latency] = Variable::ALL.map(|variable| round.thousandths(variable) as f64 / 1e3);
            RoundValues { phase: subject.phase, stream: &subject.stream, iops, bandwidth, latency }
        })
        .collect()
    }

    /// Each tracked variable of each subject over the window.
    pub fn checks(&self) -> Vec<Checked<'_>> {
        let tracked = |subject: usize| self.rule.track.variables().map(move |variable| (subject, variable));
        let all = (0..self.history.len()).flat_map(tracked);
        all.map(|(subject, variable)| {
            let values: Vec<u64> = self.last(subject).iter().map(|round| round.thousandths(variable)).collect();
            let found = check(&values, &self.rule);
            let subject = &self.subjects[subject];
            Checked { phase: subject.phase, stream: &subject.stream, variable, found }
        })
        .collect()
    }

    /// Nothing done is no steady state, however even.
    fn is_steady(&self) -> bool {
        let idle = (0..self.history.len()).any(|subject| self.last(subject).iter().any(|round| round.operations == 0));
        !idle && self.checks().iter().all(|checked| checked.found.holds)
    }

    /// Return the findings about the window, as the record shows them, if a round brought a
    /// verdict.
    pub fn verdict(&self, state: State) -> Option<Findings<'_>> {
        (state != State::Unsettled).then(|| self.findings(state == State::Attained))
    }

    /// Return the state or the end of the rounds, as the record shows it.
    pub fn findings(&self, attained: bool) -> Findings<'_> {
        let (first, last) = self.window();
        Findings { attained, rounds: last, first, last, checks: self.checks() }
    }

    fn last(&self, subject: usize) -> &[Round] {
        let history = &self.history[subject];
        &history[history.len().saturating_sub(self.rule.rounds as usize)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pts(values: &[u64]) -> Check {
        let thousandths: Vec<u64> = values.iter().map(|value| value * 1000).collect();
        check(&thousandths, &SteadyRule::default())
    }

    fn round(operations: u64) -> Round {
        Round { operations, bytes: operations * 4096, latency_ns_sum: operations * 1000, length_ns: 1_000_000_000 }
    }

    fn detector(rule: SteadyRule, subjects: u32) -> Detector {
        let subject = |phase| Subject { phase, stream: "s".into() };
        Detector::new(rule, (0..subjects).map(subject).collect())
    }

    fn state(rounds: &[u64]) -> State {
        let mut detector = detector(SteadyRule::default(), 1);
        rounds.iter().map(|&operations| detector.add(&[round(operations)])).last().expect("rounds")
    }

    /// By hand: 100, 102, 104, 106, 108 has mean 104, range 8 of 20.8 allowed, and rises by exactly
    /// 2 a round.
    #[test]
    fn a_straight_line_is_fitted_exactly() {
        let line = pts(&[100, 102, 104, 106, 108]);
        assert!(line.holds);
        assert_eq!((line.mean, line.range, line.slope, line.intercept), (104.0, 8.0, 2.0, 100.0));
        assert_eq!((line.slope_excursion, line.slope_allowed), (8.0, 10.4));
        assert!((line.correlation - 1.0).abs() < 1e-12);
        assert!((line.range_allowed - 20.8).abs() < 1e-12);
    }

    /// By hand: over the places -2 .. 2 the slope is (-2·95 - 103 + 99 + 2·107) / 10 = 2.0, the
    /// mean 100.4, and the correlation 20 / √(10 · 87.2).
    #[test]
    fn a_fit_through_scattered_rounds_is_the_one_found_by_hand() {
        let found = pts(&[95, 103, 98, 99, 107]);
        assert!((found.slope - 2.0).abs() < 1e-12 && (found.mean - 100.4).abs() < 1e-12);
        assert!((found.intercept - 96.4).abs() < 1e-12, "{}", found.intercept);
        assert!((found.correlation - 20.0 / (10.0f64 * 87.2).sqrt()).abs() < 1e-12, "{}", found.correlation);
        assert!(found.holds);
    }

    #[test]
    fn limits_that_are_no_shares_are_met_and_missed_by_one() {
        let judged = |values: &[u64], range, slope| {
            let thousandths: Vec<u64> = values.iter().map(|value| value * 1000).collect();
            let absolute = Some(Absolute { range, slope });
            check(&thousandths, &SteadyRule { absolute, ..SteadyRule::default() }).holds
        };
        let scattered = [1000, 1700, 1200, 1900, 1100];
        assert!(judged(&scattered, Some(900), None) && !judged(&scattered, Some(899), None));
        let rising = [100, 200, 300, 400, 500];
        assert!(judged(&rising, None, Some(400)) && !judged(&rising, None, Some(399)));
        assert!(judged(&rising, None, None), "nothing is asked");
        assert!(!judged(&rising, Some(1000), Some(0)), "both must hold");
    }

    #[test]
    fn the_limits_themselves_are_steady_and_the_next_value_is_not() {
        assert!(pts(&[90, 110, 100, 90, 110]).holds, "a range of 20 % of the mean");
        assert!(!pts(&[90, 111, 99, 90, 110]).holds, "a range just above it");
        assert!(pts(&[95_000, 97_500, 100_000, 102_500, 105_000]).holds, "a rise of 10 % over the window");
        assert!(!pts(&[94_995, 97_500, 100_000, 102_500, 105_005]).holds, "a rise just above it");
        assert!(pts(&[105_000, 102_500, 100_000, 97_500, 95_000]).holds, "a fall counts as a rise does");
        assert!(!pts(&[105_005, 102_500, 100_000, 97_500, 94_995]).holds);
    }

    #[test]
    fn either_criterion_alone_is_not_enough() {
        let jagged = pts(&[100, 130, 100, 130, 100]);
        assert!(!jagged.holds && jagged.slope_excursion.abs() < jagged.slope_allowed);
        let drifting = pts(&[93, 96, 100, 104, 107]);
        assert!(!drifting.holds && drifting.range < drifting.range_allowed);
    }

    #[test]
    fn steady_state_comes_with_the_first_window_of_five_that_holds() {
        assert_eq!(state(&[100; 4]), State::Unsettled);
        assert_eq!(state(&[100; 5]), State::Attained);
        assert_eq!(state(&[500, 300, 200, 150, 120, 100, 100]), State::Unsettled);
        let mut detector = detector(SteadyRule::default(), 1);
        let falling = [500, 300, 200, 110, 104, 102, 101, 100];
        let states: Vec<State> = falling.iter().map(|&operations| detector.add(&[round(operations)])).collect();
        assert_eq!(states[..7], [State::Unsettled; 7]);
        assert_eq!((states[7], detector.window()), (State::Attained, (4, 8)));
    }

    #[test]
    fn unsettled_rounds_end_at_max_rounds() {
        let halving: Vec<u64> = (0..25).map(|place| if place % 2 == 0 { 100 } else { 200 }).collect();
        assert_eq!(state(&halving[..24]), State::Unsettled);
        assert_eq!(state(&halving), State::GivenUp);
    }

    #[test]
    fn every_variable_of_every_subject_must_be_steady_at_once() {
        let mut both = detector(SteadyRule::default(), 2);
        let slower = |place: u64| Round { latency_ns_sum: 100 * (1000 + 200 * place), ..round(100) };
        let states: Vec<State> = (0..5).map(|place| both.add(&[round(100), slower(place)])).collect();
        assert_eq!(states[4], State::Unsettled, "the second one's latency rises");
        let failing: Vec<_> = both.checks().into_iter().filter(|checked| !checked.found.holds).collect();
        assert_eq!(failing.len(), 1);
        assert_eq!((failing[0].phase, failing[0].variable), (1, Variable::Latency));
        let track = Track::from(vec![Variable::Iops]);
        let mut only_rate = detector(SteadyRule { track, ..SteadyRule::default() }, 2);
        assert_eq!((0..5).map(|place| only_rate.add(&[round(100), slower(place)])).last(), Some(State::Attained));
    }

    #[test]
    fn a_stream_that_does_nothing_is_not_steady() {
        assert_eq!(state(&[0; 6]), State::Unsettled);
        assert_eq!(state(&[0, 100, 100, 100, 100, 100]), State::Attained);
    }

    #[test]
    fn values_are_rates_per_second_and_means_per_operation() {
        let half = Round { operations: 500, bytes: 2_048_000, latency_ns_sum: 1_250, length_ns: 500_000_000 };
        let values = [Variable::Iops, Variable::Bandwidth, Variable::Latency].map(|v| half.thousandths(v));
        assert_eq!(values, [1_000_000, 4_096_000_000, 2_500]);
        assert_eq!(Round::default().thousandths(Variable::Latency), 0);
    }
}
