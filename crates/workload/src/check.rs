//! What a stream's description may not say: values that no job can carry out.

use crate::spec::{Arrivals, Pattern, StreamSpec};
use tameshi_base::{Rate, Share};

/// A value that can't be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The key within the stream, dotted.
    pub key: &'static str,
    /// What is wrong with it, as a sentence.
    pub message: String,
    /// What is accepted.
    pub accepted: &'static str,
}

/// One request a nanosecond.
const MOST_RATE: Rate = Rate(1_000_000_000_000);
/// Steepest popularity: beyond it nearly all accesses go to one block.
const MOST_THETA_PERMILLE: u32 = 10_000;

impl StreamSpec {
    /// The first thing of this description that no job can carry out, wherever it works.
    pub fn objection(&self) -> Option<Objection> {
        self.pattern_objection().or_else(|| self.arrivals_objection()).or_else(|| self.pauses_objection())
    }

    /// The same of the part of the storage that it works on, `span_bytes` long.
    pub fn span_objection(&self, span_bytes: u64) -> Option<Objection> {
        let blocks = span_bytes.checked_div(self.shortest().0).unwrap_or(0);
        let key = if matches!(self.pattern, Pattern::Zoned(_)) { "pattern.zoned" } else { "pattern.hot_cold" };
        (!self.pattern.fits(blocks)).then(|| Objection {
            key,
            message: format!("a part of the {blocks} blocks is accessed but too small to hold one"),
            accepted: "larger parts, or a larger span",
        })
    }

    fn pattern_objection(&self) -> Option<Objection> {
        let whole = |shares: &[Share]| shares.iter().map(|share| u64::from(share.0)).sum::<u64>() == 1_000_000;
        let object = |key, message: &str, accepted| Some(Objection { key, message: message.to_string(), accepted });
        if self.run_length == 0 {
            return object("run_length", "a run of no requests never begins", "1 or more");
        }
        match &self.pattern {
            Pattern::Shuffled if self.block_size_mix.is_some() || self.run_length > 1 => object(
                "pattern",
                "`shuffled` visits blocks of one length, one by one",
                "no `block_size_mix`, no `run_length`",
            ),
            Pattern::Zipf { theta_permille } if !(1..=MOST_THETA_PERMILLE).contains(theta_permille) => {
                object("pattern.zipf.theta_permille", "no popularity has this exponent", "1 to 10000")
            }
            Pattern::Pareto { hot } if hot.0 == 0 || hot.0 >= Share::WHOLE.0 / 2 => {
                object("pattern.pareto.hot", "this share of the blocks can't be the hot one", "above 0 %, below 50 %")
            }
            Pattern::HotCold { hot, accesses } if *hot > Share::WHOLE || *accesses > Share::WHOLE => {
                object("pattern.hot_cold", "a share is more than the whole", "at most 100 %")
            }
            Pattern::Zoned(zones) => {
                let accesses: Vec<Share> = zones.iter().map(|zone| zone.accesses).collect();
                let spans: Vec<Share> = zones.iter().map(|zone| zone.span).collect();
                if whole(&accesses) && whole(&spans) {
                    return None;
                }
                let message = "the zones' accesses or spans are no whole";
                object("pattern.zoned", message, "accesses that add up to 100 %, and spans too")
            }
            _ => None,
        }
    }

    fn arrivals_objection(&self) -> Option<Objection> {
        let object = |key, message: &str, accepted| Some(Objection { key, message: message.to_string(), accepted });
        match &self.arrivals {
            Arrivals::Ramp { points, .. } => {
                let key = "arrivals.ramp.points";
                if points.is_empty() || points.iter().all(|point| point.rate.0 == 0) {
                    object(key, "nothing ever arrives", "at least one point with a rate above zero")
                } else if !points.is_sorted_by_key(|point| point.at) {
                    object(key, "the points go back in time", "points in the order of their times")
                } else if points.iter().any(|point| point.rate > MOST_RATE) {
                    object(key, "nothing starts requests this fast", "at most \"1000000000 /s\"")
                } else {
                    None
                }
            }
            Arrivals::Bursts { requests: 0, .. } => {
                object("arrivals.bursts.requests", "a burst of nothing never comes", "1 or more")
            }
            Arrivals::Bursts { every, .. } if every.0 == 0 => {
                object("arrivals.bursts.every", "time would stand still", "a time above zero")
            }
            _ => None,
        }
    }

    fn pauses_objection(&self) -> Option<Objection> {
        let stuck = self.duty.is_some_and(|duty| duty.on.0 == 0);
        let endless = self.duty.is_some_and(|duty| duty.on.0.checked_add(duty.off.0).is_none());
        (stuck || endless).then(|| Objection {
            key: "duty",
            message: "a stream that is never at work does nothing".to_string(),
            accepted: "`on` above zero",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Duty, Gaps, RatePoint, Shape, Zone};
    use tameshi_base::Time;

    fn key(spec: StreamSpec) -> Option<&'static str> {
        spec.objection().map(|objection| objection.key)
    }

    fn pattern(pattern: Pattern) -> Option<&'static str> {
        key(StreamSpec { pattern, ..StreamSpec::default() })
    }

    fn arrivals(arrivals: Arrivals) -> Option<&'static str> {
        key(StreamSpec { arrivals, ..StreamSpec::default() })
    }

    #[test]
    fn a_shuffled_stream_has_one_length_and_no_runs() {
        assert_eq!(pattern(Pattern::Shuffled), None);
        let runs = StreamSpec { pattern: Pattern::Shuffled, run_length: 2, ..StreamSpec::default() };
        assert_eq!(key(runs), Some("pattern"));
    }

    #[test]
    fn what_no_job_can_do_is_named_by_its_key_and_what_it_can_is_not() {
        assert_eq!(key(StreamSpec::default()), None);
        assert_eq!(key(StreamSpec { run_length: 0, ..StreamSpec::default() }), Some("run_length"));
        for (theta_permille, expected) in [(0, true), (1, false), (10_000, false), (10_001, true)] {
            let found = pattern(Pattern::Zipf { theta_permille });
            assert_eq!(found, expected.then_some("pattern.zipf.theta_permille"), "{theta_permille}");
        }
        for (hot, expected) in [(0, true), (1, false), (499_999, false), (500_000, true)] {
            assert_eq!(pattern(Pattern::Pareto { hot: Share(hot) }), expected.then_some("pattern.pareto.hot"));
        }
        let zone = |accesses, span| Zone { accesses: Share(accesses), span: Share(span) };
        assert_eq!(pattern(Pattern::Zoned(vec![zone(1_000_000, 1_000_000)])), None);
        assert_eq!(pattern(Pattern::Zoned(vec![zone(1_000_000, 900_000)])), Some("pattern.zoned"));
        assert_eq!(pattern(Pattern::Zoned(vec![])), Some("pattern.zoned"));
    }

    #[test]
    fn arrivals_that_never_come_or_go_back_in_time_are_refused() {
        let point = |at, rate| RatePoint { at: Time(at), rate: Rate(rate) };
        let ramp = |points| Arrivals::Ramp { points, shape: Shape::Lines, gaps: Gaps::Even };
        assert_eq!(arrivals(ramp(vec![point(0, 0), point(5, 1), point(5, 2)])), None);
        for points in [vec![], vec![point(0, 0)], vec![point(5, 1), point(4, 1)], vec![point(0, MOST_RATE.0 + 1)]] {
            assert_eq!(arrivals(ramp(points)), Some("arrivals.ramp.points"));
        }
        let bursts = |requests, every| arrivals(Arrivals::Bursts { requests, every: Time(every) });
        assert_eq!(
            [bursts(1, 1), bursts(0, 1), bursts(1, 0)],
            [None, Some("arrivals.bursts.requests"), Some("arrivals.bursts.every")]
        );
        for (on, off, expected) in [(1, 0, None), (0, 1, Some("duty")), (u64::MAX, 1, Some("duty"))] {
            let duty = Some(Duty { on: Time(on), off: Time(off) });
            assert_eq!(key(StreamSpec { duty, ..StreamSpec::default() }), expected);
        }
    }
}
