//! Spread of latencies by firmware, error correction, map look-ups and the like.
//!
//! A draw delays one command and takes no resource: throughput at depth stays.

use crate::basics::seed_path::SeedPath;
use crate::device::draws::FastDraws;
use tameshi_base::{Nanos, Random};
use tameshi_spec::profile::FlashProfile;

/// Jitter of reads or of writes.
#[derive(Debug)]
pub(super) struct Jitter {
    draws: FastDraws,
    random: Random,
}

impl Jitter {
    /// Return the jitter of reads and of writes that a profile states.
    pub(super) fn of(profile: &FlashProfile, seeds: &SeedPath) -> [Option<Box<Self>>; 2] {
        let Some(jitter) = &profile.jitter else { return [None, None] };
        [("jitter/read", &jitter.read.value), ("jitter/write", &jitter.write.value)]
            .map(|(purpose, points)| Self { draws: FastDraws::new(points), random: seeds.stream(purpose) })
            .map(|jitter| Some(Box::new(jitter)))
    }

    /// Draw the delay of one command; zero without a jitter.
    #[inline(always)]
    pub(super) fn draw(of: &mut Option<Box<Self>>) -> Nanos {
        match of {
            None => 0,
            Some(jitter) => jitter.draws.draw(&mut jitter.random),
        }
    }
}
