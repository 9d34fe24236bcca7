//! How the rest of a phase goes on in each interval: its work, what is counted beside it, and how things stand.
//!
//! What is counted goes on with the work, but for what the blocks show to change with the same thing as their pace, by more than
//! chance: pages that come in while a pool fills, and what waiting for them takes.

use super::book::Stretch;
use super::growth::Growth;
use super::windows::Lasting;
use crate::engine::{Counted, Standing};
use tameshi_base::Nanos;
use tameshi_record::{OpStats, Share};

/// Which shares of a stretch fall into a piece of time.
pub(super) struct Shares {
    /// Of its work.
    pub(super) work: Share,
    /// Of its time.
    pub(super) time: Share,
    /// Of each counter, where that is told.
    counters: Vec<Share>,
    /// Of the time of each kind of transaction, where that is told.
    kinds: Vec<Share>,
}

impl Shares {
    /// The stretch itself.
    pub(super) const ALL: Self = Self { work: Share::ALL, time: Share::ALL, counters: Vec::new(), kinds: Vec::new() };

    /// Of a counter's value, where it is not like that of others.
    pub(super) fn counter(&self, place: usize) -> Option<Share> {
        self.counters.get(place).copied()
    }

    /// Of the time that a kind's transactions took.
    pub(super) fn time_of(&self, kind: usize) -> Share {
        self.kinds.get(kind).copied().unwrap_or(self.time)
    }
}

/// How far the rest has come with something, as time of the blocks.
struct Line {
    drift: f64,
    /// Its sum in the blocks.
    sum: u64,
    at: Nanos,
}

impl Line {
    fn new(sum: u64, drift: f64) -> Self {
        Self { drift, sum, at: 0 }
    }

    /// How much more of the blocks' time it is worth when so much of the rest has passed, which amounts to `time` but for this.
    fn gain(&self, lasting: &Lasting, passed: Nanos, time: Nanos) -> f64 {
        (time as f64 * lasting.times(self.drift, passed as f64) - self.at as f64).max(0.0)
    }

    fn share(&mut self, gain: f64, whole: Nanos) -> Share {
        let from = self.at;
        self.at += gain.round() as Nanos;
        Share { from, to: self.at, whole }
    }
}

/// The rest behind a window of blocks.
pub(super) struct Course {
    lasting: Lasting,
    /// The window as one.
    pub(super) like: Stretch,
    counters: Vec<Line>,
    kinds: Vec<Line>,
    standing: Standing,
    pool: Growth,
    buffered: Growth,
    passed: Nanos,
}

impl Course {
    /// Behind the latest blocks, as many before which are there too.
    pub(super) fn new(lasting: Lasting, blocks: &[Stretch]) -> Self {
        let pair = &blocks[blocks.len() - 2 * lasting.blocks..];
        let (before, window) = pair.split_at(lasting.blocks);
        let (first, later) = window.split_first().expect("a block");
        let mut like = first.clone();
        later.iter().for_each(|block| like.append(block));
        let counter = |place: usize| {
            let per = |block: &Stretch| {
                let of = if Counted::IS_TIME.contains(&place) { block.length } else { block.transactions().max(1) };
                block.counted.value(place) as f64 / of as f64
            };
            Line::new(like.counted.value(place), lasting.drift_of(per, pair))
        };
        let kind = |(place, kind): (usize, &OpStats)| {
            let per = |block: &Stretch| block.kinds[place].latency_ns_sum as f64 / block.length as f64;
            Line::new(kind.latency_ns_sum, lasting.drift_of(per, pair))
        };
        let stood: Vec<Standing> = window.iter().map(|block| block.standing.1).collect();
        Self {
            counters: Counted::PLACES.map(counter).collect(),
            kinds: like.kinds.iter().enumerate().map(kind).collect(),
            standing: Standing::mean(&stood).expect("a block"),
            pool: Growth::in_windows(before, window, |standing| standing.pool),
            buffered: Growth::in_windows(before, window, |standing| standing.buffered),
            like,
            lasting,
            passed: 0,
        }
    }

    /// What the next piece has, until so much of the rest has passed.
    pub(super) fn next(&mut self, passed: Nanos) -> Shares {
        let (lasting, whole) = (&self.lasting, self.like.length);
        let piece = (self.passed, passed, whole);
        let span = |of: &dyn Fn(Nanos) -> Nanos| Share { from: of(self.passed), to: of(passed), whole };
        let (work, time) = (span(&|at| lasting.worth(at)), span(&|at| at));
        let (counts, clients) = self.counters.split_at_mut(Counted::IS_TIME.start);
        let counted = counts.iter_mut().map(|line| line.share(line.gain(lasting, passed, work.to), whole));
        let counters = counted.chain(shared_out(clients, lasting, piece)).collect();
        let kinds = shared_out(&mut self.kinds, lasting, piece);
        self.passed = passed;
        Shares { work, time, counters, kinds }
    }

    /// How things stand then.
    pub(super) fn standing(&self) -> Standing {
        let (mut standing, time) = (self.standing, self.passed as f64);
        standing.pool = (standing.pool + self.pool.after(time)).min(standing.whole);
        let most = standing.buffered.max(standing.buffer_mark);
        standing.buffered = (standing.buffered + self.buffered.after(time)).min(most);
        standing
    }
}

/// Of each line its share of a piece, which all of them together fill: from, to, and what a whole is.
fn shared_out(lines: &mut [Line], lasting: &Lasting, (from, to, whole): (Nanos, Nanos, Nanos)) -> Vec<Share> {
    let gains: Vec<f64> = lines.iter().map(|line| line.gain(lasting, to, to)).collect();
    let all: f64 = lines.iter().map(|line| line.sum as f64).sum();
    let gained: f64 = lines.iter().zip(&gains).map(|(line, gain)| line.sum as f64 * gain).sum();
    let factor = if gained > 0.0 { all * (to - from) as f64 / gained } else { 1.0 };
    lines.iter_mut().zip(gains).map(|(line, gain)| line.share(gain * factor, whole)).collect()
}
