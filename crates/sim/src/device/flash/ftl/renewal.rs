//! Blocks that become narrower because a channel has died: what was written before is moved, block by block.

use super::{Ftl, Step, Victim};

/// What is known of each block since the first channel died.
#[derive(Debug)]
pub(super) struct Renewal {
    /// Units of a block that was erased when none, one, two … channels had died.
    capacities: Vec<u32>,
    /// How many had died when each block was last erased.
    of: Vec<u8>,
    /// Blocks that were erased before the last one died.
    old: u32,
    /// Units that blocks have lost by becoming narrower.
    lost_units: u64,
    /// The old block whose turn it is, and where the next one is looked for.
    victim: Option<Victim>,
    cursor: u32,
}

impl Renewal {
    fn generation(&self) -> u8 {
        (self.capacities.len() - 1) as u8
    }

    /// Units that blocks have lost by becoming narrower.
    pub(super) fn lost_units(&self) -> u64 {
        self.lost_units
    }

    /// An erased block is as narrow as they are now.
    pub(super) fn erased(&mut self, block: u32) {
        let (generation, of) = (self.generation(), &mut self.of[block as usize]);
        if *of != generation {
            let units = |generation: u8| self.capacities[usize::from(generation)];
            self.lost_units += u64::from(units(*of) - units(generation));
            self.old -= 1;
            *of = generation;
        }
    }
}

impl Ftl {
    /// Blocks hold fewer units from their next erasure on, because a channel has died; open ones are closed.
    ///
    /// # Errors
    /// A sentence, when what is left can't hold the logical units; then nothing has changed.
    pub fn narrow(&mut self, usable_units: u32) -> Result<(), String> {
        let blocks = self.erases.len();
        let hot_and_cache = 2 * usize::from(self.hot.is_some()) + usize::from(self.cache.is_some());
        let frontiers = 1 + usize::from(self.separate) + hot_and_cache;
        let (reserve, usable) = (self.reserve_blocks.max(3), u64::from(usable_units));
        if self.map.len() as u64 + (reserve + frontiers + 1) as u64 * usable > blocks as u64 * usable {
            return Err(format!("{blocks} blocks of {usable} units can't hold {} units any more", self.map.len()));
        }
        self.seal();
        (self.reserve_blocks, self.least_free) = (reserve, 2);
        let before = self.usable_units;
        self.usable_units = usable_units;
        if let Some(cache) = &mut self.cache {
            cache.narrow((usable_units, before));
        }
        let renewal = self.renewal.get_or_insert_with(|| {
            let (capacities, of) = (vec![before], vec![0; blocks]);
            Box::new(Renewal { capacities, of, old: 0, lost_units: 0, victim: None, cursor: 0 })
        });
        renewal.capacities.push(usable_units);
        (renewal.old, renewal.cursor) = (blocks as u32, 0);
        self.free.iter().for_each(|&block| renewal.erased(block));
        Ok(())
    }

    /// Closes the open blocks; what was not written of them stays empty.
    fn seal(&mut self) {
        for open in &mut self.open {
            if open.next < open.end {
                let block = self.divide.quotient(open.next);
                self.victims.give_up(block, open.end - open.next);
                self.victims.close(block, self.work.host_units);
            }
            *open = super::Open::default();
        }
    }

    /// How many channels had died when a block was last erased.
    #[inline]
    pub fn generation(&self, block: u32) -> usize {
        self.renewal.as_ref().map_or(0, |renewal| usize::from(renewal.of[block as usize]))
    }

    /// Blocks that still lie across a dead channel.
    pub fn old_blocks(&self) -> u32 {
        self.renewal.as_ref().map_or(0, |renewal| renewal.old)
    }

    /// Moves the next valid unit out of a block that lies across a dead channel, or erases it when none is left; `None` where no
    /// such block is closed.
    pub fn renew(&mut self) -> Option<Step> {
        let renewal = self.renewal.as_mut().filter(|renewal| renewal.old > 0)?;
        let victim = match renewal.victim {
            Some(victim) => victim,
            None => {
                let generation = renewal.generation();
                let of = &renewal.of;
                let is_next = |&block: &u32| of[block as usize] != generation && self.victims.is_closed(block);
                let block = (renewal.cursor..of.len() as u32).find(is_next)?;
                renewal.cursor = block;
                let valid = self.victims.take(block);
                self.victim_of(block, valid)
            }
        };
        let step = self.step((victim.block, victim.next), victim.to);
        if let Some(renewal) = &mut self.renewal {
            renewal.victim = match step {
                Step::Moved { from, .. } => Some(Victim { next: from + 1, ..victim }),
                Step::Erased { .. } => None,
            };
        }
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::super::tests::{caches, policies};
    use super::*;
    use proptest::prelude::*;
    use tameshi_base::Random;
    use tameshi_spec::profile::CleaningPolicy;

    proptest! {
        #[test]
        fn the_map_holds_the_same_whenever_blocks_become_narrower(
            policy in policies(), separate in any::<bool>(), hot in proptest::option::of(1..600u64), seed in any::<u64>(),
            times in proptest::collection::vec(0..2000u32, 1..3), writes in 300..2500u32,
            cache in proptest::option::of(caches()),
        ) {
            let (hot_within, cache) = (hot.filter(|_| separate), cache.filter(|_| separate));
            let (idle_blocks, blocks) = (2, 40);
            let shape = Shape {
                logical: 300, blocks, units_per_block: 16, reserve_blocks: 2, separate, hot_within, policy,
                cache, idle_blocks,
            };
            let mut ftl = Ftl::new(shape, Random::named(seed, "victims")).expect("a layer");
            let (mut random, mut known, mut usable) = (Random::named(seed, "writes"), [false; 300], 16);
            for write in 0..writes {
                if times.contains(&write) && ftl.old_blocks() == 0 {
                    usable -= 2;
                    ftl.narrow(usable).expect("room");
                }
                // One unit in two of the host's makes the rebuild move one.
                if write % 7 == 0 {
                    ftl.tidy();
                }
                if ftl.old_blocks() > 0 && write % 2 == 0 {
                    while ftl.is_exhausted() {
                        ftl.reclaim();
                    }
                    if ftl.renew().is_none() {
                        ftl.reclaim();
                    }
                }
                let logical = random.below(300) as u32;
                let trims = random.below(10) == 0;
                if trims {
                    prop_assert_eq!(ftl.trim(logical), known[logical as usize]);
                } else {
                    ftl.write_untimed(logical);
                }
                known[logical as usize] = !trims;
            }
            while ftl.old_blocks() > 0 {
                while ftl.is_exhausted() {
                    ftl.reclaim();
                }
                if ftl.renew().is_none() {
                    ftl.reclaim();
                }
            }
            ftl.check();
            prop_assert_eq!(ftl.fill().physical + ftl.given_up_units(), 40 * u64::from(usable));
            for (logical, &known) in known.iter().enumerate() {
                prop_assert_eq!(ftl.lookup(logical as u32).is_some(), known);
            }
        }
    }

    #[test]
    fn what_would_not_hold_the_data_any_more_is_refused_and_changes_nothing() {
        let policy = CleaningPolicy::Greedy;
        let shape = Shape {
            logical: 300,
            blocks: 40,
            units_per_block: 16,
            reserve_blocks: 2,
            separate: true,
            hot_within: None,
            policy,
            cache: None,
            idle_blocks: 0,
        };
        let mut ftl = Ftl::new(shape, Random::named(1, "victims")).expect("a layer");
        let before = ftl.fill();
        assert!(ftl.narrow(8).is_err_and(|why| why.contains("can't hold")));
        assert_eq!((ftl.fill(), ftl.old_blocks()), (before, 0));
    }
}
