//! Rebuild of one member, paced as Linux's md paces its resync.
//!
//! A rebuild copies stretches in steps: read what the other members hold, write the new member.
//! Steps start no faster than the maximum rate. Without other commands three steps are under way at
//! once. Next to other commands, a rebuild that is faster than its minimum rate waits for its step
//! to end (`competing`), or sleeps for half a second at a time (`yielding`).

use crate::device::pace::transfer_time;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_spec::run::Rebuild;
use tameshi_spec::study::RebuildManner;

/// Bytes of a step: md keeps about as much outstanding while it resyncs.
const STEP_BYTES: u64 = 1 << 20;
/// Maximum of steps under way. md keeps the new member's queue filled with many small steps. Long
/// steps need three: one being read, one being written, one ready to be written; or a disk loses a
/// revolution before each second write.
const STEPS: usize = 3;
/// Sleep of a yielding rebuild (md of Linux before 4.x).
const SLEEP: Nanos = 500_000_000;
/// Marks that the present rate is measured from, and their distance (`SYNC_MARKS` and
/// `SYNC_MARK_STEP` of md). The rebuild catches up the bytes that a sleep lost, unless a mark is
/// set right after the sleep; those are few.
const MARKS: usize = 10;
const MARK: Nanos = 3_000_000_000;

/// Stretch of a member to be copied there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stretch {
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
    /// True if the write that put it there was acknowledged.
    pub(super) is_acknowledged: bool,
}

/// Part of a stretch that is being copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
    pub(super) is_acknowledged: bool,
    /// Unfinished parts of the present stage.
    pub(super) left: u32,
    /// True if it is being written.
    pub(super) writes: bool,
}

impl Step {
    pub(super) fn stretch(&self) -> Stretch {
        let &Self { offset_bytes, length_bytes, is_acknowledged, .. } = self;
        Stretch { offset_bytes, length_bytes: u64::from(length_bytes), is_acknowledged }
    }
}

/// Rebuild under way.
#[derive(Debug)]
pub(super) struct Rebuilding {
    pub(super) member: u32,
    pub(super) since: Nanos,
    /// True if it fills the whole member from the first byte; otherwise the member lacks only the
    /// stretches.
    pub(super) is_whole: bool,
    /// Stretches without a step.
    rest: VecDeque<Stretch>,
    /// Bytes of all started steps.
    pub(super) copied: u64,
    pub(super) steps: [Option<Step>; STEPS],
    settings: Rebuild,
    /// Earliest start of the next step by the maximum rate.
    start_at: Nanos,
    /// Times and bytes copied by then, oldest first; the first one is the base of the present rate.
    marks: [(Nanos, u64); MARKS + 1],
    /// User commands of the members when the last step started.
    activity: u64,
}

impl Rebuilding {
    pub(super) fn new(
        member: u32,
        stretches: Vec<Stretch>,
        is_whole: bool,
        settings: Rebuild,
        now: Nanos,
        activity: u64,
    ) -> Self {
        let rest = stretches.into();
        let (steps, marks) = ([None; STEPS], [(now, 0); MARKS + 1]);
        Self { member, since: now, is_whole, rest, copied: 0, steps, settings, start_at: now, marks, activity }
    }

    /// Return the stretches not yet copied.
    pub(super) fn left(&self) -> impl Iterator<Item = Stretch> {
        self.steps.iter().flatten().map(Step::stretch).chain(self.rest.iter().copied())
    }

    /// Return the stretches not yet sent to the member.
    pub(super) fn unsent(&self) -> impl Iterator<Item = Stretch> {
        let unsent = self.steps.iter().flatten().filter(|step| !step.writes);
        unsent.map(Step::stretch).chain(self.rest.iter().copied())
    }

    /// Return when to start a step; [`Nanos::MAX`] while all steps are under way.
    #[inline]
    pub(super) fn next_wake(&self) -> Nanos {
        let room = !self.rest.is_empty() && self.steps.iter().any(Option::is_none);
        if room { self.start_at } else { Nanos::MAX }
    }

    /// Start a step, unless the rebuild yields to other commands. Returns its place.
    pub(super) fn start(&mut self, now: Nanos, activity: u64, busy: bool) -> Option<(u8, Step)> {
        if now - self.marks[MARKS].0 >= MARK {
            self.marks.rotate_left(1);
            self.marks[MARKS] = (now, self.copied);
        }
        let others = busy || activity != self.activity;
        self.activity = activity;
        if others && self.is_faster_than_least(now) {
            match self.settings.manner {
                RebuildManner::Yielding => {
                    self.start_at = now + SLEEP;
                    return None;
                }
                RebuildManner::Competing if self.steps.iter().any(Option::is_some) => {
                    // The end of the step under way wakes it.
                    self.start_at = Nanos::MAX;
                    return None;
                }
                RebuildManner::Competing => {}
            }
        }
        let place = self.steps.iter().position(Option::is_none)?;
        let Stretch { offset_bytes, length_bytes, is_acknowledged } = self.rest.front_mut()?;
        let length = STEP_BYTES.min(*length_bytes);
        let (offset, is_acknowledged) = (*offset_bytes, *is_acknowledged);
        let step = Step { offset_bytes: offset, length_bytes: length as u32, is_acknowledged, left: 0, writes: false };
        (*offset_bytes, *length_bytes) = (offset + length, *length_bytes - length);
        self.rest.pop_front_if(|stretch| stretch.length_bytes == 0);
        self.steps[place] = Some(step);
        self.copied += length;
        self.start_at = now + transfer_time(length, self.settings.rate.0);
        Some((place as u8, step))
    }

    /// Return whether the rate since the first mark exceeds the minimum rate.
    fn is_faster_than_least(&self, now: Nanos) -> bool {
        let (since, before) = self.marks[0];
        let copied = u128::from(self.copied - before) * 1_000_000_000;
        copied > u128::from(self.settings.rate_min.0) * u128::from((now - since).max(1))
    }

    /// Finish a step. Returns the offset of the first byte left; [`u64::MAX`] if none is.
    pub(super) fn finish(&mut self, place: u8, now: Nanos) -> u64 {
        self.steps[usize::from(place)] = None;
        // The rebuild does not catch up time in which all steps were under way.
        self.start_at = if self.start_at == Nanos::MAX { now } else { self.start_at.max(now) };
        self.left().map(|stretch| stretch.offset_bytes).min().unwrap_or(u64::MAX)
    }
}
