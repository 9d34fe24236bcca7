//! Two windows of equal length behind one another, and how the rest goes on from them.

use super::growth::Growth;
use super::stretch::Stretch;
use super::sums::Sums;
use super::trend::{inverse, inverses, slope, slope_of};
use crate::database::Snapshot;
use tameshi_base::Nanos;

/// How far the rate of a window may be from what the ones before it let expect.
pub(super) const APART: f64 = 0.02;
/// Of changes of leaves, with fewer of them that are buffered a pool lacks too little of its leaves for that to matter.
const FEW_BUFFERED: f64 = 0.01;
/// A change buffer that takes this share of the pool more before the end leaves other pages less room; one that would take so much
/// beyond what it may comes to its end while it grows fast, or just did.
const ROOM: f64 = 0.05;
const LOST: f64 = 0.05;
/// One that is as large as it may be, but for so much of it, is full.
pub(super) const FULL: f64 = 0.97;

/// What a pace goes on changing with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    /// The inverse of the time since the judge's begin, in nanoseconds: of that, so much has passed.
    Inverse { passed: f64 },
    /// The share of the changes of leaves that is buffered: the fewer leaves a pool lacks, the more of its pages become dirty. What
    /// its sum over time, in nanoseconds, still gains.
    Share { sum: Growth },
    /// What the change buffer has gained, in bytes: it grows so, by so much at most.
    Buffered { growth: Growth, most: f64 },
}

impl With {
    /// Its mean until so much of the rest has passed.
    fn mean(&self, time: f64) -> f64 {
        match self {
            Self::Inverse { passed } => inverse(*passed, passed + time),
            Self::Share { sum } if time > 0.0 => sum.after(time) / time,
            Self::Buffered { growth, most } if time > 0.0 => growth.mean(time).min(*most),
            Self::Share { .. } | Self::Buffered { .. } => 0.0,
        }
    }

    /// How much of its trend goes on, and by how much that may make the rest slower or faster than the window. What comes to rest
    /// with `1 / t` goes on level at some time, and nothing tells when; of the last leaves that come in, many become dirty with
    /// neighbours that did already (six cells with a large pool of `mysql-disk-or-flash`, simulated whole, tell how much).
    fn trust(&self) -> (f64, f64) {
        match self {
            Self::Inverse { .. } => (0.5, 0.025),
            Self::Share { .. } => (0.7, 0.06),
            Self::Buffered { .. } => (1.0, 0.025),
        }
    }
}

/// What the rest of a phase is like.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lasting {
    /// So many of the latest blocks.
    pub(super) blocks: usize,
    /// By how much their pace changes with something, and what that was in them.
    drift: f64,
    with: With,
    at: f64,
    /// What it was in each block of them and of as many before.
    others: Vec<f64>,
}

impl Lasting {
    /// How much of the blocks' time the work of so much of the rest takes.
    pub(super) fn worth(&self, time: Nanos) -> Nanos {
        (time as f64 * self.pace(time as f64)).round() as Nanos
    }

    /// The mean pace until so much of the rest has passed, as a share of that of the blocks.
    pub(super) fn pace(&self, time: f64) -> f64 {
        self.times(self.drift, time)
    }

    /// By how much, as a share of its mean in the blocks, something of each block changes with what the pace does; `pair` are
    /// they and as many before.
    pub(super) fn drift_of(&self, of: impl Fn(&Stretch) -> f64, pair: &[Stretch]) -> f64 {
        let mean = pair[self.blocks..].iter().map(&of).sum::<f64>() / self.blocks as f64;
        let slope = slope_of(&self.others, pair.iter().map(of));
        if mean > 0.0 { self.with.trust().0 * slope / mean } else { 0.0 }
    }

    /// How many times as much as in the blocks something with such a drift is, in the mean until so much of the rest has passed.
    pub(super) fn times(&self, drift: f64, time: f64) -> f64 {
        1.0 + drift * (self.with.mean(time) - self.at)
    }

    /// Whether the pace of so much of the rest is near enough to that of the blocks to be foreseen.
    fn is_foreseen(&self, left: f64) -> bool {
        (self.pace(left) - 1.0).abs() <= self.with.trust().1
    }
}

/// Windows of equal length behind one another, the last one of which ends now.
pub(super) struct Windows<'a> {
    /// Theirs, and as many before them as there are of one more.
    blocks: &'a [Stretch],
    /// What the rate of each of them may change with.
    others: Vec<f64>,
    /// Blocks of one.
    length: usize,
    with: With,
}

impl<'a> Windows<'a> {
    pub(super) fn ending_now(all: &'a [Stretch], length: usize) -> Option<Self> {
        let more = all.len().checked_sub(2 * length)?.min(length);
        let (earlier, blocks) = all.split_at(all.len() - 2 * length - more);
        let (others, with) = changing_with(Sums::of(earlier).length, blocks, length);
        Some(Self { blocks, others, length, with })
    }

    /// Both windows.
    pub(super) fn both(&self) -> (&'a [Stretch], &'a [Stretch]) {
        pair(self.blocks, self.length)
    }

    /// Whether the last one's rate is that of the one before, or goes on from there as it had changed until then.
    pub(super) fn is_as_expected(&self) -> bool {
        let (before, window) = self.both();
        let (earlier, now) = self.others.split_at(self.others.len() - self.length);
        let slope = slope(&self.blocks[..earlier.len()], earlier);
        let change = mean(window, now) - mean(before, &earlier[earlier.len() - self.length..]);
        (Sums::of(window).rate() / (Sums::of(before).rate() + slope * change) - 1.0).abs() <= APART
    }

    /// Whether it is so, and how the pace goes on changing can be foreseen for so much of the rest.
    pub(super) fn are_steady(&self, left: f64) -> bool {
        self.is_as_expected() && self.lasting().is_foreseen(left)
    }

    /// Whether a change buffer takes so much of the pool before the end, or has to stop growing so fast, that the rest is not like
    /// the window.
    pub(super) fn buffer_takes_room(&self, left: f64) -> bool {
        let whole = standing(self.blocks).whole;
        let (growth, most) = growth(self.both());
        let gain = growth.after(left);
        gain.min(most) > ROOM * whole || gain - most > LOST * whole
    }

    pub(super) fn lasting(&self) -> Lasting {
        let (_, window) = self.both();
        let both = self.blocks.len() - 2 * self.length;
        let others = self.others[both..].to_vec();
        let slope = slope(&self.blocks[both..], &others) / Sums::of(window).rate();
        let at = mean(window, &others[self.length..]);
        Lasting { blocks: self.length, drift: self.with.trust().0 * slope, with: self.with, at, others }
    }
}

/// What the rate of each block may change with, and how that goes on behind the last two windows of so many blocks, which a
/// time has passed before.
fn changing_with(passed: f64, blocks: &[Stretch], length: usize) -> (Vec<f64>, With) {
    let (before, window) = pair(blocks, length);
    let Snapshot { turned_over, buffered, leaf_changes, .. } = *standing(blocks);
    // Where all pages in the pool have been replaced, none come in ever more seldom; a drive may still come to rest.
    if turned_over >= 1.0 && leaf_changes.0 > 0 {
        let gained = blocks.iter().map(|block| block.standing.1.buffered - buffered).collect();
        let (growth, most) = growth((before, window));
        return (gained, With::Buffered { growth, most });
    }
    let shares: Vec<f64> = blocks.iter().map(Stretch::buffered_share).collect();
    let (earlier, now) = shares.split_at(shares.len() - length);
    let share = mean(window, now);
    if share < FEW_BUFFERED {
        let with = With::Inverse { passed: passed + Sums::of(blocks).length };
        return (inverses(blocks, passed.max(1.0)), with);
    }
    let lengths = [before, window].map(|blocks| Sums::of(blocks).length);
    let first = mean(before, &earlier[earlier.len() - length..]) * lengths[0];
    let sum = Growth::of([0.0, first, first + share * lengths[1]], lengths);
    (shares, With::Share { sum })
}

/// The last two windows of so many blocks.
fn pair(blocks: &[Stretch], length: usize) -> (&[Stretch], &[Stretch]) {
    blocks[blocks.len() - 2 * length..].split_at(length)
}

/// How things stand at the end of blocks.
fn standing(blocks: &[Stretch]) -> &Snapshot {
    &blocks[blocks.len() - 1].standing.1
}

/// The mean, over the time of blocks, of something that is given of each.
fn mean(blocks: &[Stretch], of: &[f64]) -> f64 {
    let sum: f64 = blocks.iter().zip(of).map(|(block, of)| of * block.length as f64).sum();
    sum / Sums::of(blocks).length
}

/// How the change buffer goes on growing behind two windows, and by how much it may.
fn growth((before, window): (&[Stretch], &[Stretch])) -> (Growth, f64) {
    let Snapshot { buffered, buffer_mark, .. } = standing(window);
    (Growth::in_windows(before, window, |standing| standing.buffered), (buffer_mark - buffered).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::stretch::tests::block;

    /// Blocks whose rate goes down towards a thousand a block with the inverse of time, faster at the begin by a share.
    fn slowing(count: u64, share: f64) -> Vec<Stretch> {
        let mean = |n: f64| inverse(n.max(0.01), n + 1.0);
        (0..count).map(|n| block(1_000_000, (1e5 * (1.0 + share * mean(n as f64))).round() as u64)).collect()
    }

    #[test]
    fn the_rest_of_a_filling_pool_goes_on_with_the_share_of_changes_that_is_buffered() {
        let share = |number: f64| 0.5 * libm::exp(-number / 40.0);
        let of = |number: u64| {
            let share = (share(number as f64) + share(number as f64 + 1.0)) / 2.0;
            let mut block = block(1_000_000, (1e5 * (1.0 + 0.2 * share)).round() as u64);
            let (begin, end) = &mut block.standing;
            (begin.leaf_changes, end.leaf_changes) = ((7, 3), (1_000_007, (1e6 * share).round() as u64 + 3));
            block
        };
        let blocks: Vec<Stretch> = (0..400).map(of).collect();
        let windows = Windows::ending_now(&blocks[..40], 10).expect("two windows and some");
        assert!(windows.is_as_expected() && windows.are_steady(360e6));
        let (like, exact) = (Sums::of(&blocks[30..40]).rate(), Sums::of(&blocks[40..]).rate());
        let (level, pace) = (like / exact - 1.0, windows.lasting().pace(360e6));
        assert!(level > 0.02, "without its trend it would be off");
        assert!((like * pace / exact - 1.0 - 0.3 * level).abs() < 0.001, "{pace}");
    }

    #[test]
    fn the_rest_goes_on_slowing_down_half_as_much_as_the_blocks_did() {
        let blocks = slowing(40, 2.0);
        let windows = Windows::ending_now(&blocks, 10).expect("two windows and some");
        assert!(windows.is_as_expected());
        let (lasting, whole) = (windows.lasting(), slowing(200, 2.0));
        let exact = Sums::of(&whole[40..]).transactions;
        let like = Sums::of(&blocks[30..]).transactions / 10.0;
        let rest = lasting.worth(160_000_000) as f64 / 1e6 * like;
        let level = like * 160.0 / exact - 1.0;
        assert!(level > 0.02, "without its trend it would be off");
        assert!((rest / exact - 1.0 - level / 2.0).abs() < 0.002, "{rest} {exact}");
        let halves = [0, 80_000_000, 160_000_000].map(|time| lasting.worth(time));
        assert!(halves[0] == 0 && halves[1] > halves[2] - halves[1], "{halves:?}");
    }

    #[test]
    fn the_rest_of_a_full_pool_slows_down_as_the_change_buffer_grows_towards_its_end() {
        let size = |number: f64| 1e6 * (1.0 - libm::exp(-number / 40.0));
        let blocks: Vec<Stretch> = (0..200)
            .map(|number| {
                let buffered = size(f64::from(number) + 1.0);
                let mut block = block(1_000_000, (1e5 - buffered / 100.0).round() as u64);
                let (begin, end) = &mut block.standing;
                (begin.buffered, end.buffered) = (size(f64::from(number)), buffered);
                (end.turned_over, end.buffer_mark, end.leaf_changes) = (5.0, 1e9, (1_000_000, 500_000));
                block
            })
            .collect();
        let windows = Windows::ending_now(&blocks[..40], 10).expect("two windows and some");
        assert!(windows.is_as_expected());
        let like = Sums::of(&blocks[30..40]).transactions / 10.0;
        let rest = windows.lasting().worth(160_000_000) as f64 / 1e6 * like;
        let exact = Sums::of(&blocks[40..]).transactions;
        assert!(like * 160.0 / exact > 1.01, "without its trend it would be off");
        assert!((rest / exact - 1.0).abs() < 0.001, "{rest} {exact}");
    }

    #[test]
    fn a_rate_that_turns_is_not_as_expected() {
        let turning = |n: u64| block(1_000_000, if n < 20 { 90_000 + 1000 * n } else { 110_000 - 800 * (n - 20) });
        let blocks: Vec<Stretch> = (0..40).map(turning).collect();
        assert!(!Windows::ending_now(&blocks, 10).expect("windows").is_as_expected());
        let level: Vec<Stretch> = (0..40).map(|n| block(1_000_000, 100_000 + 300 * (n % 3))).collect();
        let windows = Windows::ending_now(&level, 10).expect("windows");
        assert!(windows.is_as_expected());
        assert_eq!(windows.lasting().worth(160_000_000), 160_000_000, "what is level goes on as it is");
    }
}
