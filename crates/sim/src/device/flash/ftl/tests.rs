//! Tests of the translation layer.

use super::*;
use proptest::prelude::*;
use tameshi_spec::profile::CleaningPolicy;

fn policies() -> impl Strategy<Value = CleaningPolicy> {
    prop_oneof![
        Just(CleaningPolicy::Greedy),
        Just(CleaningPolicy::Fifo),
        Just(CleaningPolicy::Random),
        Just(CleaningPolicy::CostBenefit),
        (1..6u32).prop_map(|drawn| CleaningPolicy::Choices { drawn }),
    ]
}

fn caches() -> impl Strategy<Value = CacheShape> {
    (1..8u32, 1..12u32).prop_map(|(units_per_block, blocks)| CacheShape { units_per_block, blocks })
}

proptest! {
    #[test]
    fn writes_and_trims_lose_and_duplicate_nothing(
        policy in policies(), separate in any::<bool>(), seed in any::<u64>(), writes in 100..4000u32,
        hot in proptest::option::of(1..600u64), cache in proptest::option::of(caches()), idles in any::<bool>(),
    ) {
        let (hot_within, cache) = (hot.filter(|_| separate), cache.filter(|_| separate));
        let (idle_blocks, blocks) = (2 * u32::from(idles), 32);
        let shape = Shape {
            logical: 300, blocks, units_per_block: 16, reserve_blocks: 3, separate, hot_within, policy,
            cache, idle_blocks,
        };
        let mut ftl = Ftl::new(shape, Random::named(seed, "victims")).expect("a layer");
        let mut random = Random::named(seed, "writes");
        let mut known = [false; 300];
        for _ in 0..writes {
            let logical = random.below(300) as u32;
            let trims = random.below(10) == 0;
            if trims {
                prop_assert_eq!(ftl.trim(logical), known[logical as usize]);
            } else {
                ftl.write_untimed(logical);
            }
            known[logical as usize] = !trims;
            if idles && random.below(100) == 0 {
                (0..random.below(200)).for_each(|_| _ = ftl.reclaim_idle());
            }
        }
        ftl.check();
        for (logical, &known) in known.iter().enumerate() {
            prop_assert_eq!(ftl.lookup(logical as u32).is_some(), known);
        }
    }
}

proptest! {
    #[test]
    fn writes_in_order_at_once_equal_writes_one_by_one(
        policy in policies(), separate in any::<bool>(), seed in any::<u64>(), units in 0..=300u32,
        hot in proptest::option::of(1..600u64), cache in proptest::option::of(caches()), writes in 0..2000u32,
        reserve_blocks in 3..12u32,
    ) {
        let (hot_within, cache) = (hot.filter(|_| separate), cache.filter(|_| separate));
        let (logical, blocks, units_per_block, idle_blocks) = (300, 40, 16, 2);
        let shape = Shape {
            logical, blocks, units_per_block, reserve_blocks, separate, hot_within, policy, cache, idle_blocks,
        };
        let [mut at_once, mut singly] =
            [(); 2].map(|()| Ftl::new(shape, Random::named(seed, "victims")).expect("a layer"));
        at_once.bypass_cache(true);
        singly.bypass_cache(true);
        at_once.write_untimed_in_order(units);
        (0..units).for_each(|unit| singly.write_untimed(unit));
        for ftl in [&mut at_once, &mut singly] {
            ftl.check();
            ftl.bypass_cache(false);
            let mut random = Random::named(seed, "writes");
            for _ in 0..writes {
                let logical = random.below(300) as u32;
                match random.below(10) {
                    0 => _ = ftl.trim(logical),
                    1 => _ = ftl.reclaim_idle(),
                    _ => ftl.write_untimed(logical),
                }
            }
            ftl.check();
        }
        let state = |ftl: &Ftl| {
            let places: Vec<_> = (0..300).map(|logical| ftl.lookup(logical)).collect();
            let holders: Vec<_> = (0..40 * 16).map(|physical| ftl.holder(physical)).collect();
            (places, holders, ftl.fill(), ftl.work(), ftl.erases().to_vec(), ftl.cached_units())
        };
        prop_assert_eq!(state(&at_once), state(&singly));
    }
}

proptest! {
    #[test]
    fn narrower_blocks_at_any_time_keep_the_map(
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
            // The rebuild moves one unit per two host units.
            if write % 7 == 0 {
                ftl.reclaim_idle();
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
fn narrowing_below_the_data_is_refused_and_changes_nothing() {
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

#[test]
fn cache_blocks_shrink_in_proportion_with_narrower_blocks() {
    let cache = Some(CacheShape { units_per_block: 8, blocks: 5 });
    let (policy, separate, hot_within) = (CleaningPolicy::Greedy, true, None);
    let (logical, blocks, units_per_block, reserve_blocks, idle_blocks) = (300, 40, 16, 2, 0);
    let shape =
        Shape { logical, blocks, units_per_block, reserve_blocks, separate, hot_within, policy, cache, idle_blocks };
    let mut ftl = Ftl::new(shape, Random::named(1, "victims")).expect("a layer");
    let (before, _) = ftl.write(0);
    assert_eq!((ftl.is_in_cache(before / 16), ftl.given_up_units()), (true, 8));
    ftl.narrow(14).expect("room");
    for unit in 1..=7 {
        let (to, _) = ftl.write(unit);
        assert!(ftl.is_in_cache(to / 16), "{unit}");
    }
    assert_eq!(ftl.given_up_units(), 2 * 7, "one old and one new block, counted alike");
    ftl.write(8);
    assert_eq!(ftl.given_up_units(), 3 * 7, "seven fill it");
    ftl.check();
}
