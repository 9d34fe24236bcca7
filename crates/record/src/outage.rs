//! Outages of a database: first error, first success, and recovery to nine tenths of the earlier
//! rate.

use serde::Serialize;
use tameshi_base::Nanos;

/// Time over which completions are counted: a tenth of a second.
pub const BUCKET: Nanos = 100_000_000;
/// Most buckets over which the rate before an outage is averaged.
const BEFORE: u64 = 100;
/// Buckets over which the rate after an outage must hold.
const AFTER: usize = 10;

/// Outage of a database; times from t0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outage {
    /// Time at which a client lost its connection or found none.
    pub first_error_ns: Nanos,
    /// Time at which a transaction completed on a connection made since.
    pub first_success_ns: Option<Nanos>,
    /// Start of the first second with nine tenths of the earlier transactions.
    pub recovered_ns: Option<Nanos>,
    /// Transactions per second before the outage.
    pub rate_before: f64,
    /// Transactions that this rate would have completed until the first success (or the end).
    pub unserved: f64,
}

/// Known times of an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// First error.
    pub error: Nanos,
    /// First success after it.
    pub success: Option<Nanos>,
}

impl Outage {
    /// Create an outage of a phase from `begin` to `end`; `counts`: transactions completed in each
    /// [`BUCKET`].
    pub fn new(gap: Gap, counts: &[u64], (begin, end): (Nanos, Nanos)) -> Self {
        let error = ((gap.error - begin) / BUCKET).min(counts.len() as u64);
        let from = error.saturating_sub(BEFORE);
        let before: u64 = counts[from as usize..error as usize].iter().sum();
        let per_bucket = if error > from { before as f64 / (error - from) as f64 } else { 0.0 };
        let recovered = gap.success.and_then(|success| {
            let first = ((success - begin) / BUCKET) as usize;
            let last = (end.saturating_sub(begin) / BUCKET) as usize;
            let holds = |at: &usize| {
                let window = &counts[*at..*at + AFTER];
                window.iter().sum::<u64>() as f64 >= 0.9 * per_bucket * AFTER as f64
            };
            let at = (first..).take_while(|at| at + AFTER <= last.min(counts.len())).find(holds)?;
            Some((begin + at as u64 * BUCKET).max(success))
        });
        let gone = gap.success.unwrap_or(end).saturating_sub(gap.error);
        Self {
            first_error_ns: gap.error,
            first_success_ns: gap.success,
            recovered_ns: recovered,
            rate_before: per_bucket * 1e9 / BUCKET as f64,
            unserved: per_bucket * gone as f64 / BUCKET as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn recovery_needs_a_second_at_nine_tenths_of_the_rate() {
        let at = |bucket: u64| match bucket {
            200..250 => 0,
            250..300 => 8,
            _ => 10,
        };
        let counts: Vec<u64> = (0..500).map(at).collect();
        let gap = Gap { error: 20 * SECOND, success: Some(25 * SECOND + 7) };
        let outage = Outage::new(gap, &counts, (0, 50 * SECOND));
        assert_eq!(outage.rate_before, 100.0);
        // Five of the second's ten buckets have 10, the other five 8.
        assert_eq!(outage.recovered_ns, Some(29 * SECOND + SECOND / 2));
        assert!((outage.unserved - 500.0).abs() < 1e-3);
        let lasting = Outage::new(Gap { success: None, ..gap }, &counts, (0, 50 * SECOND));
        assert_eq!((lasting.recovered_ns, lasting.unserved), (None, 3000.0));
    }
}
