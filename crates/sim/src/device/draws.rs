//! Random draws of times from a profile's distribution.

use tameshi_base::{Nanos, Random};
use tameshi_spec::profile::LatencyPoint;

const WHOLE: u64 = 1_000_000;

/// Distribution of times, by points of its cumulative function.
#[derive(Debug)]
pub(super) struct Draws(Vec<(u64, Nanos)>);

impl Draws {
    pub(super) fn new(points: &[LatencyPoint]) -> Self {
        Self(points.iter().map(|point| (u64::from(point.share.0), point.time.0)).collect())
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> Nanos {
        self.at(random.below(WHOLE))
    }

    /// Return the time that `share` millionths of all draws do not exceed.
    fn at(&self, share: u64) -> Nanos {
        let above = self.0.partition_point(|&(reached, _)| reached <= share);
        let (Some(&(from, least)), Some(&(to, most))) = (self.0.get(above.wrapping_sub(1)), self.0.get(above)) else {
            return self.0.last().map_or(0, |&(_, time)| time);
        };
        least + (u128::from(most - least) * u128::from(share - from) / u128::from(to - from)) as Nanos
    }
}

/// Steps of a table: the thousandths in which percentiles are given are exact.
const STEPS: usize = 1000;

/// Times at the bounds of steps of equal probability, in nanoseconds.
type Steps = [u32; STEPS + 1];

/// The same distribution for a hot path: a draw is one random number and one look-up.
///
/// The topmost of its steps has steps of its own, so the finest step is one draw in a million.
/// Times between bounds are linear.
#[derive(Debug)]
pub(super) struct FastDraws {
    steps: Steps,
    top: Steps,
}

impl FastDraws {
    pub(super) fn new(points: &[LatencyPoint]) -> Self {
        let exact = Draws::new(points);
        let bounds = |from: u64| -> Steps {
            let share = |step: usize| from + (WHOLE - from) * step as u64 / STEPS as u64;
            std::array::from_fn(|step| exact.at(share(step)).min(u32::MAX.into()) as u32)
        };
        Self { steps: bounds(0), top: bounds(WHOLE - WHOLE / STEPS as u64) }
    }

    #[inline(always)]
    pub(super) fn draw(&self, random: &mut Random) -> Nanos {
        let bits = random.bits();
        let (step, between) = step_of(bits >> u32::BITS);
        if step < STEPS - 1 {
            return within(&self.steps, step, between);
        }
        let (step, between) = step_of(bits & u64::from(u32::MAX));
        within(&self.top, step, between)
    }
}

/// Return the step that 32 random bits select, and the place within it in 32 bits.
#[inline(always)]
fn step_of(bits: u64) -> (usize, u64) {
    let place = bits * STEPS as u64;
    ((place >> u32::BITS) as usize, place & u64::from(u32::MAX))
}

/// Return the time at a place within a step.
#[inline(always)]
fn within(steps: &Steps, step: usize, between: u64) -> Nanos {
    let [least, most] = [steps[step], steps[step + 1]].map(Nanos::from);
    least + (((most - least) * between) >> u32::BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::{Share, Time};

    #[test]
    fn fast_draws_have_the_quantiles_of_the_points() {
        let points = [(0, 0), (500_000, 2_000), (990_000, 20_000), (999_000, 90_000), (1_000_000, 1_000_000)]
            .map(|(share, time)| LatencyPoint { share: Share(share), time: Time(time) });
        let (draws, mut random) = (FastDraws::new(&points), Random::named(1, "draws"));
        let mut found: Vec<Nanos> = (0..1_000_000).map(|_| draws.draw(&mut random)).collect();
        found.sort_unstable();
        for (share, expected) in [(250_000, 1_000), (500_000, 2_000), (990_000, 20_000), (999_000, 90_000)] {
            let at = found[share] as f64;
            assert!((at / f64::from(expected) - 1.0).abs() < 0.05, "at {share}: {at}, not {expected}");
        }
        assert!(found[999_999] <= 1_000_000);
        let mean = found.iter().sum::<Nanos>() as f64 / 1e6;
        // Each stretch of the cumulative function adds its middle.
        let expected = 0.5 * 1_000.0 + 0.49 * 11_000.0 + 0.009 * 55_000.0 + 0.001 * 545_000.0;
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean}, not {expected}");
    }
}
