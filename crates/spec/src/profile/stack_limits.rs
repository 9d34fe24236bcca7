//! Values of a stack that no array or controller can have, in an array profile or in a study.
//!
//! A controller's time and rate have limits less than a factor of a thousand apart, as those of drives and hosts do. Chunks and the rates
//! of rebuilds are settings, which differ by more: their limits are those of what can be set.

use super::limit::{Impossible, Limit, MS, SIZE, TIME, US, or_none, outside};
use crate::node::{Cache, Rebuild};

/// From a controller in the host to the processor of an array behind a network.
const CONTROLLER: (u64, u64) = (5 * US, 4 * MS);
/// Bytes per second of arrays: behind Gigabit Ethernet, or behind some ports of 100 Gbit/s.
const ARRAY: (u64, u64) = (100_000_000, 90_000_000_000);
/// Bytes per second up to what the fastest drives write; md's own least is 1000 KB, and its greatest 200 MB.
const FASTEST_REBUILD: u64 = 20_000_000_000;

/// The first value that no controller's cache can have.
pub(crate) fn impossible_cache(cache: &Cache) -> Option<Impossible<'static>> {
    let mut limits = vec![
        Limit(cache.memory.0, vec!["memory"], SIZE, 1 << 20, 1 << 38),
        or_none(Limit(cache.latency.0, vec!["latency"], TIME, CONTROLLER.0, CONTROLLER.1)),
    ];
    limits.extend(cache.rate.iter().map(|rate| Limit(rate.0, vec!["rate"], SIZE, ARRAY.0, ARRAY.1)));
    outside("controller", limits)
}

/// The first rate that no rebuild can be set to.
pub(crate) fn impossible_rebuild(rebuild: &Rebuild) -> Option<Impossible<'static>> {
    let rates = vec![
        Limit(rebuild.rate.0, vec!["rebuild_rate"], SIZE, 1_000_000, FASTEST_REBUILD),
        Limit(rebuild.rate_min.0, vec!["rebuild_rate_min"], SIZE, 100_000, FASTEST_REBUILD),
    ];
    outside("array", rates)
}
