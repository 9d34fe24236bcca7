//! Far side of a block mirror: what is on the link, and what a lost side lacks.

use crate::store::PAGE;
use serde_json::{Value, json};
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind};

/// State of a block mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// Both sides are there.
    Both,
    /// One side is gone.
    Alone,
    /// A side has come back, and lacks data.
    Resync,
}

/// Far side of a block mirror.
#[derive(Debug)]
pub(crate) struct FarSide {
    pub(crate) sides: Sides,
    pub(crate) link_is_up: bool,
    /// Numbers in the undo log of writes and trims on the link, one per command of the device.
    crossing: VecDeque<u64>,
    /// One bit per page that the lost side lacks.
    lacks: Vec<u64>,
    pages: u64,
    /// Bytes of writes given to the link, without resyncs.
    sent_bytes: u64,
}

impl FarSide {
    /// Far side of a drive that serves `capacity_bytes`.
    pub(crate) fn new(capacity_bytes: u64) -> Self {
        let pages = capacity_bytes.div_ceil(PAGE);
        let crossing = VecDeque::new();
        Self { sides: Sides::Both, link_is_up: true, crossing, lacks: Vec::new(), pages, sent_bytes: 0 }
    }

    /// Return whether writes cross the link.
    pub(crate) fn is_linked(&self) -> bool {
        self.sides != Sides::Alone
    }

    /// Note a command that is given to the device; `sequence` is its number in the undo log.
    pub(crate) fn send(&mut self, command: &Command, sequence: u64) {
        if self.is_linked() && matches!(command.kind, CommandKind::Write | CommandKind::Trim) {
            self.crossing.push_back(sequence);
            self.sent_bytes += if command.kind == CommandKind::Write { u64::from(command.length_bytes) } else { 0 };
        }
    }

    /// Note that no more than `unsent` commands are on the link; return the first of them.
    pub(crate) fn arrived(&mut self, unsent: u64) -> Option<u64> {
        while self.crossing.len() as u64 > unsent {
            self.crossing.pop_front();
        }
        self.crossing.front().copied()
    }

    /// Note that a range is being changed: a lost side lacks it.
    pub(crate) fn note_change(&mut self, offset: u64, length: u64) {
        if self.sides != Sides::Alone {
            return;
        }
        for page in offset / PAGE..(offset + length).div_ceil(PAGE).min(self.pages) {
            self.lacks[(page / 64) as usize] |= 1 << (page % 64);
        }
    }

    /// Note the loss of a side, which lacks these ranges from then on.
    pub(crate) fn lose_side<'a>(&mut self, ranges: impl Iterator<Item = &'a (u64, u64)>) {
        (self.sides, self.link_is_up) = (Sides::Alone, true);
        self.crossing.clear();
        self.lacks = vec![0; self.pages.div_ceil(64) as usize];
        ranges.for_each(|&(offset, length)| self.note_change(offset, length));
    }

    /// Return the ranges that the lost side lacks, in the order of their offsets.
    pub(crate) fn lacks(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (word, bits) in (0..).zip(&self.lacks) {
            for page in (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| word * 64 + bit) {
                match ranges.last_mut() {
                    Some((start, length)) if *start + *length == page * PAGE => *length += PAGE,
                    _ => ranges.push((page * PAGE, PAGE)),
                }
            }
        }
        ranges
    }

    /// Note the return of the lost side.
    pub(crate) fn take_back(&mut self) {
        let lacks_any = self.lacks.iter().any(|&bits| bits != 0);
        self.sides = if lacks_any { Sides::Resync } else { Sides::Both };
        self.lacks = Vec::new();
    }

    /// Note a power cut of both sides, after which `resyncs` of them receive what they lack.
    pub(crate) fn note_cut(&mut self, resyncs: u32) {
        self.crossing.clear();
        if resyncs > 0 && self.sides == Sides::Both {
            self.sides = Sides::Resync;
        }
    }

    /// Return the state; `written` is the next number of the undo log.
    pub(crate) fn as_json(&self, written: u64, behind_bytes: Option<u64>, rebuilt_bytes: u64) -> Value {
        json!({
            "sides": match self.sides { Sides::Both => "both", Sides::Alone => "alone", Sides::Resync => "resync" },
            "link_is_up": self.link_is_up,
            "written": written,
            "arrived": self.crossing.front().copied().unwrap_or(written),
            "behind_bytes": behind_bytes,
            "sent_bytes": self.sent_bytes + rebuilt_bytes,
        })
    }
}
