//! Offsets of requests.

use crate::stream::shuffle::Shuffle;
use crate::stream::skew::{Scatter, SelfSimilar, Zipf};
use crate::stream::spec::{Pattern, StreamSpec, Zone};
use tameshi_base::{Random, Share, Size};

/// The part of a storage that one job works on.
#[derive(Clone, Debug)]
pub struct Offsets {
    begin_bytes: u64,
    span_bytes: u64,
    draw: Draw,
    random: Random,
    /// Requests that follow one another from each drawn offset on.
    run_length: u32,
    /// Remaining requests of the run.
    run_left: u32,
    /// Offset of the next sequential request, from the span's begin.
    cursor: u64,
    /// Alignment of drawn offsets, if it differs from the request's length.
    align: Option<u64>,
    /// Offsets count from the span's end.
    backwards: bool,
    /// Length of the last request that was drawn, and how many places there are for such a one.
    places: (u64, u64),
    /// Each request begins at a multiple of its length, any of them alike.
    plain: bool,
}

/// Distribution of offsets. Popularity belongs to blocks as long as the shortest request.
#[derive(Clone, Debug)]
enum Draw {
    /// Not at all: each request follows the one before it.
    Sequential,
    /// Neither: stretches of bytes, with a gap after each.
    Strided {
        run: u64,
        skip: u64,
    },
    /// Uniformly.
    Uniform,
    /// In random order, none again before all have come: the job's part of the blocks, from the
    /// first of them on.
    Shuffled(Blocks, u64, Shuffle),
    Zipf(Blocks, Zipf, Scatter),
    Pareto(Blocks, SelfSimilar, Scatter),
    /// For each zone the millionths of accesses up to its end, its first block and its number of
    /// blocks.
    Zoned(Blocks, Vec<(u64, u64, u64)>),
}

/// The blocks that popularity belongs to.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    length: u64,
    count: u64,
}

impl Draw {
    /// `scatter` is the same for every stream and phase of a run: popular blocks of one are popular
    /// in the others.
    fn new(pattern: &Pattern, blocks: Blocks, (job, jobs): (u32, u32), random: &Random, scatter: Random) -> Self {
        match pattern {
            Pattern::Shuffled => {
                let bound = |job: u32| (u128::from(blocks.count) * u128::from(job) / u128::from(jobs)) as u64;
                let (first, end) = (bound(job), bound(job + 1));
                Self::Shuffled(blocks, first, Shuffle::new(end - first, random.clone()))
            }
            Pattern::Sequential => Self::Sequential,
            Pattern::Strided { skip: Size(0), .. } => Self::Sequential,
            Pattern::Strided { run, skip, .. } => Self::Strided { run: run.0, skip: skip.0 },
            Pattern::Random => Self::Uniform,
            Pattern::Zipf { theta_permille } => {
                let zipf = Zipf::new(f64::from(*theta_permille) / 1000.0, blocks.count);
                Self::Zipf(blocks, zipf, Scatter::new(blocks.count, scatter))
            }
            Pattern::Pareto { hot } => {
                let hot = f64::from(hot.0) / f64::from(Share::WHOLE.0);
                Self::Pareto(blocks, SelfSimilar::new(hot, blocks.count), Scatter::new(blocks.count, scatter))
            }
            Pattern::HotCold { .. } | Pattern::Zoned(_) => Self::Zoned(blocks, zones(&pattern.zones(), blocks.count)),
        }
    }

    /// A block, from the span's begin, and its length; `None` where all that fits is alike.
    #[inline]
    fn block(&mut self, random: &mut Random) -> Option<(u64, u64)> {
        match self {
            Self::Sequential | Self::Strided { .. } | Self::Uniform => None,
            Self::Shuffled(blocks, first, shuffle) => Some((*first + shuffle.next(), blocks.length)),
            Self::Zipf(blocks, zipf, scatter) => Some((scatter.place(zipf.draw(random)), blocks.length)),
            Self::Pareto(blocks, pareto, scatter) => Some((scatter.place(pareto.draw(random)), blocks.length)),
            Self::Zoned(blocks, zones) => {
                let drawn = random.below(u64::from(Share::WHOLE.0));
                let zone = zones.iter().find(|(below, ..)| drawn < *below).or(zones.last());
                let &(_, first, count) = zone.expect("a zoned pattern has a zone");
                Some((first + random.below(count), blocks.length))
            }
        }
    }
}

/// The zones' bounds in blocks. One without accesses is never drawn from.
fn zones(zones: &[Zone], blocks: u64) -> Vec<(u64, u64, u64)> {
    let (mut accesses, mut span) = (0, 0);
    let bound = |millionths: u64| (u128::from(blocks) * u128::from(millionths) / u128::from(Share::WHOLE.0)) as u64;
    let bounds = zones.iter().map(|zone| {
        let first = bound(span);
        (accesses, span) = (accesses + u64::from(zone.accesses.0), span + u64::from(zone.span.0));
        (zone.accesses, accesses, first, bound(span) - first)
    });
    let drawn = bounds.filter(|(share, ..)| *share > Share(0));
    drawn.map(|(_, accesses, first, count)| (accesses, first, count)).collect()
}

impl Pattern {
    /// The zones of a pattern that has some.
    pub fn zones(&self) -> Vec<Zone> {
        let rest = |share: Share| Share(Share::WHOLE.0.saturating_sub(share.0));
        match self {
            Self::Zoned(zones) => zones.clone(),
            &Self::HotCold { hot, accesses } => {
                vec![Zone { accesses, span: hot }, Zone { accesses: rest(accesses), span: rest(hot) }]
            }
            Self::Random
            | Self::Shuffled
            | Self::Sequential
            | Self::Strided { .. }
            | Self::Zipf { .. }
            | Self::Pareto { .. } => Vec::new(),
        }
    }

    /// Return the alignment of a strided pattern's stretches.
    pub fn stretch(&self) -> Option<Size> {
        match self {
            Self::Strided { run, skip, .. } => Some(Size(run.0 | skip.0)),
            _ => None,
        }
    }

    /// Return whether each zone that is accessed holds a block, given the number of blocks.
    pub fn fits(&self, blocks: u64) -> bool {
        zones(&self.zones(), blocks).iter().all(|(.., count)| *count > 0)
    }
}

impl Offsets {
    /// Requests of `spec` in `begin_bytes .. begin_bytes + span_bytes`.
    ///
    /// A sequential job starts at a share of the span that its number gives, moved by a seeded
    /// distance: jobs don't follow one another, and phases don't read again what the phase before
    /// them has just read. A shuffled job has that share to itself, so that its stream's jobs
    /// together visit each block once.
    ///
    /// # Panics
    /// When the span has no room for a request; the resolver refuses such a study.
    pub fn new(
        spec: &StreamSpec,
        (begin_bytes, span_bytes): (u64, u64),
        job: u32,
        mut random: Random,
        scatter: Random,
    ) -> Self {
        let longest = spec.longest().0;
        assert!(span_bytes >= longest && longest > 0, "the span holds no whole block");
        let length = spec.align.unwrap_or(spec.shortest()).0;
        let backwards = matches!(spec.pattern, Pattern::Strided { backwards: true, .. });
        let span_bytes = if backwards { span_bytes / longest * longest } else { span_bytes };
        let blocks = Blocks { length, count: span_bytes / length };
        let draw = Draw::new(&spec.pattern, blocks, (job, spec.jobs), &random, scatter);
        let mut cursor = 0;
        if matches!(draw, Draw::Sequential) {
            let blocks = span_bytes / longest;
            let share = (u128::from(blocks) * u128::from(job) / u128::from(spec.jobs)) as u64;
            cursor = (share + random.below(blocks)) % blocks * longest;
        }
        if let Draw::Strided { run, skip } = draw {
            let stretches = (span_bytes - longest) / (run + skip) + 1;
            let share = (u128::from(stretches) * u128::from(job) / u128::from(spec.jobs)) as u64;
            cursor = (share + random.below(stretches)) % stretches * (run + skip);
        }
        let align = spec.align.map(|align| align.0);
        let plain = matches!(draw, Draw::Uniform) && align.is_none() && spec.run_length == 1;
        Self {
            begin_bytes,
            span_bytes,
            draw,
            random,
            run_length: spec.run_length,
            run_left: 0,
            cursor,
            align,
            backwards,
            places: (0, 0),
            plain,
        }
    }

    /// The first byte of the next request, which is `length_bytes` long and no longer than the
    /// longest.
    ///
    /// A drawn request begins at a multiple of its own length from the span's begin; one that
    /// follows another where that ended. Where the rest of the span is too short, a sequential job
    /// goes on at its begin, and a run ends.
    #[inline(always)]
    pub fn next(&mut self, length_bytes: u32) -> u64 {
        let length = u64::from(length_bytes);
        if self.plain && self.places.0 == length {
            return self.begin_bytes + self.random.below(self.places.1) * length;
        }
        self.next_of_any(length)
    }

    /// Return the offsets of the next requests of the same length.
    #[inline(always)]
    pub(crate) fn next_all<'a>(&mut self, length_bytes: u32, begins: impl Iterator<Item = &'a mut u64>) {
        let length = u64::from(length_bytes);
        if !self.plain || self.places.0 != length {
            return begins.for_each(|begin| *begin = self.next(length_bytes));
        }
        // A value in a register is faster than one in memory.
        let mut random = self.random.clone();
        begins.for_each(|begin| *begin = self.begin_bytes + random.below(self.places.1) * length);
        self.random = random;
    }

    fn next_of_any(&mut self, length: u64) -> u64 {
        let follows = self.cursor + length <= self.span_bytes;
        let offset = if matches!(self.draw, Draw::Sequential) {
            if follows { self.cursor } else { 0 }
        } else if let Draw::Strided { run, skip } = self.draw {
            self.strided(length, run, skip)
        } else if self.run_left > 0 && follows {
            self.run_left -= 1;
            self.cursor
        } else {
            self.run_left = self.run_length - 1;
            self.drawn(length)
        };
        self.cursor = offset + length;
        self.begin_bytes + if self.backwards { self.span_bytes - self.cursor } else { offset }
    }

    /// Return the offset at which the current stretch, or the next one with room, continues.
    #[inline]
    fn strided(&self, length: u64, run: u64, skip: u64) -> u64 {
        let within = self.cursor % (run + skip);
        let next = if within + length <= run { self.cursor } else { self.cursor - within + run + skip };
        if next + length <= self.span_bytes { next } else { 0 }
    }

    #[inline]
    fn drawn(&mut self, length: u64) -> u64 {
        let unit = self.align.unwrap_or(length);
        if self.places.0 != length {
            self.places = (length, (self.span_bytes - length) / unit + 1);
        }
        let places = self.places.1;
        match self.draw.block(&mut self.random) {
            None => self.random.below(places) * unit,
            // A longer request covers the block that was drawn, but for the rest at the span's end.
            Some((block, of)) => (block * of / unit).min(places - 1) * unit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::spec::SizeShare;
    use std::collections::{BTreeMap, BTreeSet};
    use tameshi_base::Size;

    fn offsets(pattern: Pattern, place: (u64, u64), lengths: &[u64], jobs: (u32, u32)) -> Offsets {
        let share = Share(Share::WHOLE.0 / lengths.len() as u32);
        let mix = lengths.iter().map(|&length| SizeShare { size: Size(length), share }).collect();
        let spec = StreamSpec { pattern, block_size_mix: Some(mix), jobs: jobs.1, ..StreamSpec::default() };
        Offsets::new(&spec, place, jobs.0, Random::named(5, "o"), Random::named(5, "scatter"))
    }

    #[test]
    fn a_sequential_job_visits_each_block_once_before_any_again() {
        let mut offsets = offsets(Pattern::Sequential, (1 << 20, 40_960), &[4096], (1, 3));
        let first: Vec<u64> = (0..10).map(|_| offsets.next(4096)).collect();
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).map(|b| (1 << 20) + b * 4096).collect::<Vec<_>>());
        assert_eq!(first, (0..10).map(|_| offsets.next(4096)).collect::<Vec<_>>());
    }

    fn strided(run: u64, skip: u64, backwards: bool) -> Pattern {
        Pattern::Strided { run: Size(run), skip: Size(skip), backwards }
    }

    #[test]
    fn strided_job_visits_only_its_stretches_in_order() {
        let mut offsets = offsets(strided(8192, 4096, false), (1 << 20, 60 * 1024), &[4096], (0, 1));
        let visited: Vec<u64> = (0..10).map(|_| offsets.next(4096) - (1 << 20)).collect();
        let all = [0, 4096, 12_288, 16_384, 24_576, 28_672, 36_864, 40_960, 49_152, 53_248];
        let begin = all.iter().position(|&at| at == visited[0]).expect("a stretch's begin");
        assert_eq!(visited, all[begin..].iter().chain(&all[..begin]).copied().collect::<Vec<_>>());
        assert_eq!(begin % 2, 0);
        assert_eq!(offsets.next(4096) - (1 << 20), visited[0]);
    }

    #[test]
    fn backward_job_visits_each_block_once() {
        for skip in [0, 4096] {
            let mut offsets = offsets(strided(4096, skip, true), (8192, 40_960 + 512), &[4096], (0, 1));
            let count = if skip == 0 { 10 } else { 5 };
            let visited: Vec<u64> = (0..count).map(|_| offsets.next(4096) - 8192).collect();
            let falls = visited.windows(2).filter(|pair| pair[1] + 4096 + skip == pair[0]).count();
            assert!(falls + 2 >= count, "but for where it begins again at the end: {visited:?}");
            let places: BTreeSet<u64> = visited.iter().copied().collect();
            assert_eq!(places, (0..count as u64).map(|block| 40_960 - 4096 - block * (4096 + skip)).collect());
            assert_eq!(offsets.next(4096) - 8192, visited[0]);
        }
    }

    #[test]
    fn aligned_offsets_reach_both_ends() {
        let mix = [512u64, 65_536].map(|size| SizeShare { size: Size(size), share: Share(500_000) });
        let zone = |accesses: u32, span: u32| Zone { accesses: Share(accesses * 10_000), span: Share(span * 10_000) };
        for pattern in [Pattern::Random, Pattern::Zoned(vec![zone(50, 5), zone(50, 95)])] {
            let spec = StreamSpec {
                pattern,
                block_size_mix: Some(mix.to_vec()),
                align: Some(Size(4096)),
                ..StreamSpec::default()
            };
            let span = 1 << 20;
            let mut offsets = Offsets::new(&spec, (0, span), 0, Random::named(5, "o"), Random::named(5, "scatter"));
            for length in [512u32, 65_536] {
                let drawn: BTreeSet<u64> = (0..20_000).map(|_| offsets.next(length)).collect();
                let places = (span - u64::from(length)) / 4096 + 1;
                assert!(drawn.iter().all(|at| at % 4096 == 0 && at + u64::from(length) <= span));
                assert_eq!(drawn.len() as u64, places, "each place comes");
            }
        }
    }

    #[test]
    fn a_shuffled_job_visits_each_block_once_before_any_again() {
        let mut offsets = offsets(Pattern::Shuffled, (8192, 100 * 4096 + 7), &[4096], (0, 1));
        let mut pass = || (0..100).map(|_| offsets.next(4096)).collect::<Vec<u64>>();
        let (first, second) = (pass(), pass());
        assert_ne!(first, second);
        for mut pass in [first, second] {
            pass.sort_unstable();
            assert_eq!(pass, (0..100).map(|block| 8192 + block * 4096).collect::<Vec<_>>());
        }
    }

    #[test]
    fn shuffled_jobs_visit_each_block_once_per_pass() {
        for (blocks, jobs) in [(96, 16), (100, 3), (7, 7)] {
            let pass = |job| {
                let share = blocks * (u64::from(job) + 1) / u64::from(jobs) - blocks * u64::from(job) / u64::from(jobs);
                let mut offsets = offsets(Pattern::Shuffled, (8192, blocks * 4096), &[4096], (job, jobs));
                (0..share).map(|_| offsets.next(4096)).collect::<Vec<u64>>()
            };
            let mut all: Vec<u64> = (0..jobs).flat_map(pass).collect();
            all.sort_unstable();
            assert_eq!(all, (0..blocks).map(|block| 8192 + block * 4096).collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_offsets_are_aligned_and_reach_both_ends() {
        let mut offsets = offsets(Pattern::Random, (8192, 16 * 4096 + 100), &[4096], (0, 1));
        let seen: BTreeSet<u64> = (0..2000).map(|_| offsets.next(4096)).collect();
        assert_eq!(seen, (0..16).map(|b| 8192 + b * 4096).collect());
    }

    fn all_patterns() -> Vec<Pattern> {
        let half = Share(500_000);
        vec![
            Pattern::Random,
            Pattern::Zipf { theta_permille: 300 },
            Pattern::Pareto { hot: Share(400_000) },
            Pattern::HotCold { hot: half, accesses: Share(700_000) },
            Pattern::Zoned(vec![Zone { accesses: half, span: half }, Zone { accesses: half, span: half }]),
        ]
    }

    #[test]
    fn mixed_random_requests_are_aligned_to_their_length() {
        let (begin, span) = (8192, 10 * 65_536 + 4096);
        for pattern in all_patterns() {
            let mut offsets = offsets(pattern.clone(), (begin, span), &[4096, 16_384, 65_536], (0, 1));
            for length in [4096u32, 16_384, 65_536] {
                let seen: BTreeSet<u64> = (0..40_000).map(|_| offsets.next(length)).collect();
                let whole = span / u64::from(length);
                let all = (0..whole).map(|k| begin + k * u64::from(length)).collect();
                assert_eq!(seen, all, "{pattern:?} {length}");
            }
        }
    }

    #[test]
    fn sequential_jobs_begin_in_different_places() {
        let spec = StreamSpec { pattern: Pattern::Sequential, jobs: 8, ..StreamSpec::default() };
        let first = |job| {
            let random = Random::named(5, &format!("s/{job}/offsets"));
            Offsets::new(&spec, (0, 1 << 30), job, random, Random::named(5, "scatter")).next(4096)
        };
        assert_eq!((0..8).map(first).collect::<BTreeSet<u64>>().len(), 8);
    }

    #[test]
    fn mixed_sequential_requests_have_no_gaps() {
        let mut offsets = offsets(Pattern::Sequential, (0, 100_000), &[512, 4096, 16_384], (0, 1));
        let mut expected = offsets.next(512) + 512;
        for turn in 0..1000 {
            let length = [512, 4096, 16_384][turn % 3];
            let offset = offsets.next(length);
            let wraps = expected + u64::from(length) > 100_000;
            assert_eq!(offset, if wraps { 0 } else { expected });
            expected = offset + u64::from(length);
        }
    }

    #[test]
    fn runs_have_the_requested_length_and_end_with_the_span() {
        let spec = StreamSpec { run_length: 8, ..StreamSpec::default() };
        let span = 1 << 30;
        let mut offsets = Offsets::new(&spec, (0, span), 0, Random::named(5, "o"), Random::named(5, "s"));
        let seen: Vec<u64> = (0..8000).map(|_| offsets.next(4096)).collect();
        for run in seen.chunks(8) {
            assert!(run.windows(2).all(|pair| pair[1] == pair[0] + 4096), "{run:?}");
        }
        let jumps = seen.chunks(8).collect::<Vec<_>>();
        assert!(jumps.windows(2).all(|pair| pair[1][0] != pair[0][7] + 4096));
        let mut short = Offsets::new(&spec, (0, 3 * 4096), 0, Random::named(5, "o"), Random::named(5, "s"));
        assert!((0..1000).all(|_| short.next(4096) < 3 * 4096));
    }

    /// Draws per block of `blocks`.
    fn counts(pattern: Pattern, blocks: u64, draws: u64) -> Vec<u64> {
        let mut offsets = offsets(pattern, (0, blocks * 4096), &[4096], (0, 1));
        let mut counts = vec![0; blocks as usize];
        (0..draws).for_each(|_| counts[(offsets.next(4096) / 4096) as usize] += 1);
        counts
    }

    #[test]
    fn zones_get_their_shares_of_the_accesses_uniformly_within() {
        let percent = |n: u32| Share(n * 10_000);
        let zone = |accesses, span| Zone { accesses: percent(accesses), span: percent(span) };
        // The composite of SNIA's enterprise workload: half the accesses to the first 5 %, and so
        // on.
        let zoned = Pattern::Zoned(vec![zone(50, 5), zone(30, 15), zone(20, 80)]);
        let hot_cold = Pattern::HotCold { hot: percent(10), accesses: percent(90) };
        let (blocks, draws) = (100, 200_000u64);
        for (pattern, parts) in
            [(zoned, vec![(0..5, 0.5), (5..20, 0.3), (20..100, 0.2)]), (hot_cold, vec![(0..10, 0.9), (10..100, 0.1)])]
        {
            let counts = counts(pattern, blocks, draws);
            for (part, share) in parts {
                let each = draws as f64 * share / part.len() as f64;
                let chi_square: f64 =
                    counts[part.clone()].iter().map(|&n| libm::pow(n as f64 - each, 2.0) / each).sum();
                let limit = part.len() as f64 + 4.0 * (2.0 * part.len() as f64).sqrt() + 8.0;
                assert!(chi_square < limit, "{part:?}: {chi_square}");
            }
        }
    }

    #[test]
    fn the_popular_blocks_are_scattered_and_the_same_for_all_jobs() {
        let pattern = Pattern::Zipf { theta_permille: 1200 };
        let popular = |job| {
            let mut offsets = offsets(pattern.clone(), (0, 1000 * 4096), &[4096], (job, 2));
            offsets.random = Random::named(u64::from(job), "own");
            let mut counts = BTreeMap::new();
            (0..100_000).for_each(|_| *counts.entry(offsets.next(4096)).or_insert(0) += 1);
            let mut blocks: Vec<(u32, u64)> = counts.into_iter().map(|(offset, n)| (n, offset / 4096)).collect();
            blocks.sort_unstable_by(|a, b| b.cmp(a));
            blocks.into_iter().take(5).map(|(_, block)| block).collect::<Vec<_>>()
        };
        let (first, second) = (popular(0), popular(1));
        assert_eq!(first, second);
        assert!(first.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1), "{first:?}");
    }

    #[test]
    fn zone_without_a_block_is_refused() {
        let percent = |n: u32| Share(n * 10_000);
        let pattern = Pattern::HotCold { hot: percent(1), accesses: percent(90) };
        assert!(!pattern.fits(99));
        assert!(pattern.fits(100));
        assert!(Pattern::HotCold { hot: percent(0), accesses: percent(0) }.fits(1), "nothing is accessed there");
        assert!(Pattern::Random.fits(1));
    }
}
