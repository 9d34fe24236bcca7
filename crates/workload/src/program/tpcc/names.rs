//! Last names and non-uniform random numbers: clauses 2.1.6 and 4.3.2.3.

use super::super::keys::between;
use tameshi_base::Random;

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// Appends the last name of a number below 1000: a syllable for each of its three digits.
pub fn last_name(number: u64, text: &mut String) {
    for digit in [number / 100, number / 10 % 10, number % 10] {
        text.push_str(SYLLABLES[digit as usize]);
    }
}

/// NURand(A, x, y) with the constant C of the run or the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NuRand {
    /// A, by which numbers crowd.
    pub a: u64,
    /// C, chosen at random once.
    pub c: u64,
}

impl NuRand {
    /// A number from `low` to `high`, both included.
    #[inline]
    pub fn draw(&self, random: &mut Random, low: u64, high: u64) -> u64 {
        let crowded = between(random, 0, self.a) | between(random, low, high);
        (crowded + self.c) % (high - low + 1) + low
    }
}

/// The constants C of a load and of a run on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// For last names, A = 255.
    pub last: NuRand,
    /// For customers' numbers, A = 1023.
    pub customer: NuRand,
    /// For items' numbers, A = 8191.
    pub item: NuRand,
}

impl Constants {
    /// Those of a load.
    pub fn of_load(data_seed: u64) -> Self {
        Self::drawn(&mut Random::named(data_seed, "tpcc/c-load"))
    }

    /// Those of a run: the constant of last names differs from the load's by 65 to 119, but neither
    /// by 96 nor by 112.
    pub fn of_run(load: &Self, run_seed: u64) -> Self {
        let mut random = Random::named(run_seed, "tpcc/c-run");
        loop {
            let run = Self::drawn(&mut random);
            let delta = run.last.c.abs_diff(load.last.c);
            if (65..=119).contains(&delta) && delta != 96 && delta != 112 {
                return run;
            }
        }
    }

    fn drawn(random: &mut Random) -> Self {
        let mut of = |a| NuRand { a, c: between(random, 0, a) };
        Self { last: of(255), customer: of(1023), item: of(8191) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_those_of_the_specification() {
        let name = |number| {
            let mut text = String::new();
            last_name(number, &mut text);
            text
        };
        assert_eq!(name(0), "BARBARBAR");
        assert_eq!(name(371), "PRICALLYOUGHT");
        assert_eq!(name(999), "EINGEINGEING");
    }

    #[test]
    fn nurand_has_the_distribution_that_its_formula_gives() {
        // Exactly: every pair of draws is equally likely, so counting the pairs gives the
        // probabilities.
        let nurand = NuRand { a: 255, c: 123 };
        let mut exact = vec![0.0; 1000];
        for a in 0..256u64 {
            for b in 0..1000u64 {
                exact[(((a | b) + 123) % 1000) as usize] += 1.0 / 256_000.0;
            }
        }
        let draws = 2_000_000;
        let mut random = Random::named(5, "nurand");
        let mut found = vec![0.0; 1000];
        (0..draws).for_each(|_| found[nurand.draw(&mut random, 0, 999) as usize] += 1.0);
        let chi_squared: f64 = exact
            .iter()
            .zip(&found)
            .filter(|(p, _)| **p > 0.0)
            .map(|(p, n)| (n - p * f64::from(draws)) * (n - p * f64::from(draws)) / (p * f64::from(draws)))
            .sum();
        let freedom = exact.iter().filter(|p| **p > 0.0).count() as f64 - 1.0;
        assert!((chi_squared - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{chi_squared} at {freedom}");
        assert!(exact.iter().zip(&found).all(|(p, n)| *p > 0.0 || *n == 0.0));
    }

    #[test]
    fn the_runs_constant_keeps_its_distance_from_the_loads() {
        for seed in 0..500 {
            let load = Constants::of_load(seed);
            for run_seed in 0..4 {
                let run = Constants::of_run(&load, run_seed);
                let delta = run.last.c.abs_diff(load.last.c);
                assert!((65..=119).contains(&delta) && delta != 96 && delta != 112, "{delta}");
                assert!(run.last.c <= 255 && run.customer.c <= 1023 && run.item.c <= 8191);
            }
        }
    }
}
