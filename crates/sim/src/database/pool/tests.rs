//! Tests of the buffer pool against exact LRU, Che's approximation, and its own invariants.

use super::*;
use std::collections::{BTreeMap, VecDeque};
use tameshi_base::Random;

/// InnoDB's own midpoint.
fn midpoint(old: Nanos) -> Option<Midpoint> {
    Some(Midpoint { share: 378, least: 512, old_ms: (old / 1_000_000) as u32 })
}

/// Draw a page; popularity falls with the square root of the rank.
fn page(random: &mut Random, pages: u32) -> u32 {
    let u = random.unit();
    ((u * u) * f64::from(pages)) as u32
}

fn hits(frames: u32, pages: u32, draws: u32, midpoint: Option<Midpoint>) -> f64 {
    let mut pool = Pool::new(frames, pages, midpoint);
    let mut random = Random::named(1, "pool");
    let mut hits = 0u32;
    for draw in 0..draws {
        let (page, now) = (page(&mut random, pages), Nanos::from(draw) * 100_000);
        match pool.get(page, now) {
            Found::Here(..) => hits += u32::from(draw >= draws / 2),
            _ => {
                let at = pool.take(100).expect("all pages are clean");
                pool.put(at, page, true, now);
                pool.arrived(at);
                assert!(matches!(pool.get(page, now), Found::Here(_, true)));
            }
        }
    }
    f64::from(hits) / f64::from(draws - draws / 2)
}

/// Hit ratio of exact LRU.
fn exact(frames: usize, pages: u32, draws: u32) -> f64 {
    let (mut last, mut order): (BTreeMap<u32, u32>, VecDeque<(u32, u32)>) = Default::default();
    let mut random = Random::named(1, "pool");
    let mut hits = 0u32;
    for draw in 0..draws {
        let page = page(&mut random, pages);
        hits += u32::from(last.insert(page, draw).is_some() && draw >= draws / 2);
        order.push_back((page, draw));
        while last.len() > frames {
            let Some((page, at)) = order.pop_front() else { break };
            if last.get(&page) == Some(&at) {
                last.remove(&page);
            }
        }
    }
    f64::from(hits) / f64::from(draws - draws / 2)
}

/// Hit ratio by Che's approximation: a page stays for the time in which as many different pages
/// are requested as there are frames.
fn che(frames: f64, pages: u32) -> f64 {
    let count = f64::from(pages);
    let share = |page: u32| ((f64::from(page) + 1.0) / count).sqrt() - (f64::from(page) / count).sqrt();
    let there = |page: u32, time: f64| 1.0 - libm::exp(-share(page) * time);
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let held: f64 = (0..pages).map(|page| there(page, middle)).sum();
        if held < frames { low = middle } else { high = middle }
    }
    (0..pages).map(|page| share(page) * there(page, low)).sum()
}

#[test]
fn unused_frames_are_free_and_take_no_memory() {
    let mut pool = Pool::new(1 << 26, 1000, midpoint(0));
    for page in 0..10 {
        let frame = pool.take(100).expect("there are millions");
        pool.put(frame, page, false, 0);
        pool.arrived(frame);
    }
    assert_eq!((pool.frames(), pool.free(), pool.listed()), (1 << 26, (1 << 26) - 10, 10));
    assert_eq!((pool.frames.len(), pool.states.len(), pool.lru.len_of_links()), (10, 10, 10));
}

#[test]
fn hit_ratio_is_that_of_lru_and_ches_approximation() {
    for frames in [200u32, 1000, 4000] {
        let (found, exactly, che) = (
            hits(frames, 10_000, 400_000, midpoint(0)),
            exact(frames as usize, 10_000, 400_000),
            che(frames.into(), 10_000),
        );
        assert!((exactly - che).abs() < 0.004, "{frames} frames: exactly {exactly}, Che {che}");
        assert!((found - exactly).abs() < 0.015, "{frames} frames: {found}, exactly {exactly}");
        assert_eq!(hits(frames, 10_000, 400_000, None), exactly, "without a midpoint it is that of LRU exactly");
    }
}

#[test]
fn scan_keeps_pages_used_again_after_a_second() {
    let survivors = |old: Nanos| {
        let mut pool = Pool::new(1000, 100_000, midpoint(old));
        let mut now = 0;
        let touch = |pool: &mut Pool, page, now| {
            if pool.get(page, now) == Found::Missing {
                let at = pool.take(100).expect("all pages are clean");
                pool.put(at, page, true, now);
                pool.arrived(at);
                pool.get(page, now);
            }
        };
        // Some pages are used again and again, among others that fill the pool.
        (0..1500).for_each(|page| touch(&mut pool, page, 0));
        for _ in 0..5 {
            now += 2_000_000_000;
            (1000..1200).for_each(|page| touch(&mut pool, page, now));
        }
        (10_000..20_000).for_each(|page| touch(&mut pool, page, now + u64::from(page)));
        (1000..1200).filter(|&page| pool.holds(page)).count()
    };
    assert_eq!(survivors(1_000_000_000), 200);
    assert_eq!(survivors(0), 0);
}

#[test]
fn used_last_pages_come_from_the_lists_head() {
    let mut pool = Pool::new(100, 1000, midpoint(0));
    for page in 0..150 {
        let at = pool.take(100).expect("all pages are clean");
        pool.put(at, page, true, 0);
        pool.arrived(at);
        pool.get(page, 0);
    }
    assert!(matches!(pool.get(60, 1), Found::Here(..)));
    assert_eq!(pool.used_last(4), [60, 149, 148, 147]);
    let mut all = pool.used_last(1000);
    all.sort_unstable();
    assert!(all.into_iter().eq(50..150));
}

#[test]
fn frames_are_free_or_listed_and_dirty_pages_ordered() {
    let (frames, pages) = (700, 5000);
    let mut pool = Pool::new(frames, pages, midpoint(0));
    let mut random = Random::named(2, "pool");
    let mut writing: Vec<(u32, u64)> = Vec::new();
    for step in 1..60_000u64 {
        let page = page(&mut random, pages);
        let found = match pool.get(page, step * 1_000_000) {
            Found::Here(at, _) => Some(at),
            _ => pool.take(frames).inspect(|&at| {
                pool.put(at, page, true, step);
                pool.arrived(at);
            }),
        };
        match (found, random.below(4)) {
            (Some(at), 0) => pool.change(at, step, step + 1),
            (Some(at), 3) => pool.retire(at),
            (_, 1) => writing.extend(pool.dirty_at_end(frames).map(|at| (at, pool.begin_write(at)))),
            (_, 2) if !writing.is_empty() => {
                let (at, lsn) = writing.swap_remove(0);
                pool.written(at, lsn);
            }
            _ => {}
        }
        let depth = 100 + random.below(2) as u32;
        let counted = pool.lru_end(depth).filter(|(_, replaceable)| *replaceable).count() as u32;
        assert_eq!(pool.replaceable(depth, u32::MAX), pool.free() + counted);
        if step % 5000 == 0 {
            let listed: Vec<u32> = pool.lru_end(u32::MAX).map(|(at, _)| at).collect();
            assert_eq!(listed.len() as u32 + pool.free(), frames);
            assert!(listed.iter().all(|&at| pool.frame(pool.page(at)) == Some(at)));
            let dirty: Vec<u32> = pool.oldest_changes().collect();
            assert_eq!(dirty.len() as u32, pool.dirty());
            assert!(
                dirty
                    .windows(2)
                    .all(|two| { pool.frames[two[0] as usize].oldest <= pool.frames[two[1] as usize].oldest })
            );
            let old = pool.states.iter().filter(|state| **state & OLD != 0).count() as u32;
            assert_eq!(old, pool.lru.old_length());
        }
    }
}
