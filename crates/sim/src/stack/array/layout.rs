//! Layout of an array's bytes on its members, and the parts of a command there.
//!
//! - *Stripe*: chunk `c` lies on member `c mod n`, at chunk `c div n`. A command's bytes on one
//!   member are contiguous there and become one part, as the block layer merges them.
//! - *Mirror*: every member holds all bytes.
//! - *Parity*: left-symmetric, the default of Linux. Row `r` has its parity on member `n − 1 − (r
//!   mod n)`, and its data on the members after that one, cyclically. A write of a whole row writes
//!   data and parity. A smaller write first reads: the overwritten data and the parity
//!   (read-modify-write), or the other data (reconstruct-write), whichever are fewer;
//!   reconstruct-write among equals. Data of a dead member are reconstructed from all others.

use super::members::Members;
use super::parts::Piece;
use crate::device::Model;
use tameshi_base::{Command, CommandKind};
use tameshi_spec::study::ReadBalance;

/// Outcome of planning a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Planned {
    /// These parts, and no further stage.
    Whole,
    /// These parts, and then another stage.
    More,
    /// Impossible: too many members are gone.
    Broken,
}

/// Layout of an array's bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::stack) enum Layout {
    /// Chunks in turn.
    Stripe { chunk: u64 },
    /// Full copies.
    Mirror { read: ReadPolicy },
    /// Chunks in turn, with one chunk of parity in each row.
    Parity { chunk: u64 },
}

/// Choice of the mirror member that serves a read.
#[derive(Clone, Copy, Debug)]
pub(in crate::stack) enum ReadPolicy {
    /// By load and position; `turn` is the next member in turn.
    Balanced { balance: ReadBalance, turn: u32 },
    /// First member that holds the bytes.
    First,
}

impl ReadPolicy {
    /// Policy that starts with the first member.
    pub(in crate::stack) fn balanced(balance: ReadBalance) -> Self {
        Self::Balanced { balance, turn: 0 }
    }
}

impl Layout {
    /// Append the parts of a command's stage.
    pub(super) fn plan<D: Model>(
        &mut self,
        command: &Command,
        stage: u8,
        members: &Members<D>,
        pieces: &mut Vec<Piece>,
    ) -> Planned {
        match self {
            // Data to be flushed are gone with the array.
            _ if command.kind == CommandKind::Flush && self.is_broken(members) => Planned::Broken,
            _ if command.kind == CommandKind::Flush => flush(command.offset_bytes, members, pieces),
            Self::Stripe { chunk } => stripe(command, *chunk, members, pieces),
            Self::Mirror { read } => mirror(command, read, members, pieces),
            Self::Parity { .. } if command.kind == CommandKind::Trim => Planned::Whole,
            Self::Parity { chunk } => Rows { chunk: *chunk, members, pieces }.plan(command, stage),
        }
    }

    /// Return the bytes of data in a row with parity; `None` without parity.
    pub(super) fn row_bytes(&self, members: u32) -> Option<u64> {
        let Self::Parity { chunk } = self else { return None };
        Some((u64::from(members) - 1) * chunk)
    }

    /// Return whether a command writes only a part of a row.
    pub(super) fn writes_part_of_row(&self, command: &Command, members: u32) -> bool {
        let end = command.offset_bytes + u64::from(command.length_bytes);
        let is_cut = |row: u64| !(command.offset_bytes.is_multiple_of(row) && end.is_multiple_of(row));
        command.kind == CommandKind::Write && self.row_bytes(members).is_some_and(is_cut)
    }

    /// Return the member that holds a byte, and the offset there; the first of several members.
    pub(super) fn place(&self, offset_bytes: u64, members: u32) -> (u32, u64) {
        match self {
            Self::Stripe { chunk } => {
                let (number, n) = (offset_bytes / chunk, u64::from(members));
                ((number % n) as u32, number / n * chunk + offset_bytes % chunk)
            }
            Self::Mirror { .. } | Self::Parity { .. } => (0, offset_bytes),
        }
    }

    /// Return whether more members are gone than the layout tolerates.
    pub(super) fn is_broken<D: Model>(&self, members: &Members<D>) -> bool {
        members.gone() > self.redundancy(members.count())
    }

    /// Return the members that may be gone without data loss.
    pub(super) fn redundancy(&self, members: u32) -> u32 {
        match self {
            Self::Stripe { .. } => 0,
            Self::Mirror { .. } => members - 1,
            Self::Parity { .. } => 1,
        }
    }
}

fn flush<D: Model>(offset_bytes: u64, members: &Members<D>, pieces: &mut Vec<Piece>) -> Planned {
    let living = (0..members.count()).filter(|&member| members.lives(member));
    pieces.extend(living.map(|member| Piece { member, kind: CommandKind::Flush, offset_bytes, length_bytes: 0 }));
    Planned::Whole
}

fn stripe<D: Model>(command: &Command, chunk: u64, members: &Members<D>, pieces: &mut Vec<Piece>) -> Planned {
    let n = u64::from(members.count());
    let (begin, end) = (command.offset_bytes, command.offset_bytes + u64::from(command.length_bytes.max(1)));
    let (first, last) = (begin / chunk, (end - 1) / chunk);
    if first == last {
        let member = (first % n) as u32;
        let offset_bytes = first / n * chunk + begin % chunk;
        pieces.push(Piece { member, kind: command.kind, offset_bytes, length_bytes: command.length_bytes });
        return if members.lives(member) { Planned::Whole } else { Planned::Broken };
    }
    for c in first..=last.min(first + n - 1) {
        let member = (c % n) as u32;
        if !members.lives(member) {
            return Planned::Broken;
        }
        let last_here = last - (last - c) % n;
        let from = c / n * chunk + if c == first { begin % chunk } else { 0 };
        let to = last_here / n * chunk + if last_here == last { (end - 1) % chunk + 1 } else { chunk };
        let length_bytes = (to - from) as u32;
        pieces.push(Piece { member, kind: command.kind, offset_bytes: from, length_bytes });
    }
    Planned::Whole
}

fn mirror<D: Model>(
    command: &Command,
    read: &mut ReadPolicy,
    members: &Members<D>,
    pieces: &mut Vec<Piece>,
) -> Planned {
    let Command { kind, offset_bytes, length_bytes, .. } = *command;
    let piece = |member| Piece { member, kind, offset_bytes, length_bytes };
    if kind == CommandKind::Read {
        pieces.extend(choose(command, read, members).map(piece));
    } else {
        pieces.extend((0..members.count()).filter(|&member| members.lives(member)).map(piece));
        let whole = (0..members.count()).any(|member| members.holds(member, u64::MAX));
        if !whole {
            return Planned::Broken;
        }
    }
    if pieces.is_empty() { Planned::Broken } else { Planned::Whole }
}

/// Choose the member that serves a read.
fn choose<D: Model>(command: &Command, read: &mut ReadPolicy, members: &Members<D>) -> Option<u32> {
    let (begin, end) = (command.offset_bytes, command.offset_bytes + u64::from(command.length_bytes));
    let n = members.count();
    let holds = |&member: &u32| members.holds(member, end);
    let ReadPolicy::Balanced { balance, turn } = read else { return (0..n).find(holds) };
    if let Some(same) = (0..n).filter(holds).find(|&member| members.last_end(member) == begin && begin > 0) {
        return Some(same);
    }
    let from = *turn;
    let in_turn = (0..n).map(|step| (from + step) % n).filter(holds);
    let chosen = match balance {
        ReadBalance::RoundRobin => in_turn.into_iter().next(),
        ReadBalance::ShortestQueue => in_turn.min_by_key(|&member| members.outstanding(member)),
        ReadBalance::Nearest => in_turn.min_by_key(|&member| members.last_end(member).abs_diff(begin)),
    }?;
    *turn = (chosen + 1) % n;
    Some(chosen)
}

/// Rows of an array with parity.
struct Rows<'a, D> {
    chunk: u64,
    members: &'a Members<D>,
    pieces: &'a mut Vec<Piece>,
}

/// Slice of a row: the same bytes of every chunk, of which chunks `first..=last` are written.
#[derive(Clone, Copy)]
struct Slice {
    row: u64,
    from: u64,
    to: u64,
    first: u64,
    last: u64,
}

/// Method of writing a slice.
enum Way {
    /// No reads.
    Plain,
    /// Overwritten data and parity are read first.
    Modify,
    /// Other data are read first.
    Reconstruct,
}

impl<D: Model> Rows<'_, D> {
    fn data(&self) -> u64 {
        u64::from(self.members.count()) - 1
    }

    fn parity_member(&self, row: u64) -> u32 {
        let n = u64::from(self.members.count());
        (n - 1 - row % n) as u32
    }

    fn data_member(&self, row: u64, index: u64) -> u32 {
        ((u64::from(self.parity_member(row)) + 1 + index) % u64::from(self.members.count())) as u32
    }

    fn plan(&mut self, command: &Command, stage: u8) -> Planned {
        let (begin, end) = (command.offset_bytes, command.offset_bytes + u64::from(command.length_bytes));
        let row_bytes = self.data() * self.chunk;
        let (mut at, mut more) = (begin, false);
        while at < end {
            let row = at / row_bytes;
            let to = end.min((row + 1) * row_bytes);
            let (a, b) = (at - row * row_bytes, to - row * row_bytes);
            let planned =
                if command.kind == CommandKind::Read { self.read(row, a, b) } else { self.write(row, a, b, stage) };
            match planned {
                Planned::Broken => return Planned::Broken,
                Planned::More => more = true,
                Planned::Whole => {}
            }
            at = to;
        }
        if more { Planned::More } else { Planned::Whole }
    }

    fn push(&mut self, member: u32, kind: CommandKind, slice: Slice) {
        let offset_bytes = slice.row * self.chunk + slice.from;
        let length_bytes = (slice.to - slice.from) as u32;
        self.pieces.push(Piece { member, kind, offset_bytes, length_bytes });
    }

    fn holds(&self, member: u32, slice: Slice) -> bool {
        self.members.holds(member, slice.row * self.chunk + slice.to)
    }

    /// Read bytes `a..b` of a row's data. Chunks that reconstruct a lost one are read once, even if
    /// they are requested too.
    fn read(&mut self, row: u64, a: u64, b: u64) -> Planned {
        let (before, chunk) = (self.pieces.len(), self.chunk);
        let slices = (a / chunk..=(b - 1) / chunk).map(|index| {
            let (from, to) = (a.max(index * chunk) - index * chunk, b.min((index + 1) * chunk) - index * chunk);
            Slice { row, from, to, first: index, last: index }
        });
        let mut lost = false;
        for slice in slices.clone() {
            let member = self.data_member(row, slice.first);
            if self.holds(member, slice) {
                self.push(member, CommandKind::Read, slice);
            } else {
                lost = true;
            }
        }
        if !lost {
            return Planned::Whole;
        }
        for slice in slices {
            let member = self.data_member(row, slice.first);
            if !self.holds(member, slice) && !self.read_others(member, slice, before) {
                return Planned::Broken;
            }
        }
        Planned::Whole
    }

    /// Read a slice of every member but one, as far as no part after the first `before` covers it.
    /// Returns false if a member does not hold it.
    fn read_others(&mut self, lost: u32, slice: Slice, before: usize) -> bool {
        for other in (0..self.members.count()).filter(|&other| other != lost) {
            if !self.holds(other, slice) {
                return false;
            }
            let (from, to) = (slice.row * self.chunk + slice.from, slice.row * self.chunk + slice.to);
            let asked = self.pieces[before..].iter_mut().find(|piece| {
                piece.member == other
                    && piece.offset_bytes <= to
                    && from <= piece.offset_bytes + u64::from(piece.length_bytes)
            });
            match asked {
                Some(piece) => {
                    let end = to.max(piece.offset_bytes + u64::from(piece.length_bytes));
                    piece.offset_bytes = piece.offset_bytes.min(from);
                    piece.length_bytes = (end - piece.offset_bytes) as u32;
                }
                None => self.push(other, CommandKind::Read, slice),
            }
        }
        true
    }

    /// Write bytes `a..b` of a row's data, in slices of which each chunk is written or not.
    fn write(&mut self, row: u64, a: u64, b: u64, stage: u8) -> Planned {
        let (first, last) = (a / self.chunk, (b - 1) / self.chunk);
        let (x, y) = (a % self.chunk, (b - 1) % self.chunk + 1);
        let slice = |from, to, first, last| Slice { row, from, to, first, last };
        let slices = if first == last {
            [slice(x, y, first, last), slice(0, 0, 1, 0), slice(0, 0, 1, 0)]
        } else {
            let (low, high) = (x.min(y), x.max(y));
            let between = if x <= y { (first, last) } else { (first + 1, last.wrapping_sub(1)) };
            [
                slice(0, low, first + 1, last),
                slice(low, high, between.0, between.1),
                slice(high, self.chunk, first, last - 1),
            ]
        };
        let mut planned = Planned::Whole;
        // A whole row needs no slices: each chunk is one write.
        if a == 0 && b == self.data() * self.chunk {
            return self.write_slice(slice(0, self.chunk, 0, last), stage);
        }
        for slice in slices.into_iter().filter(|slice| slice.from < slice.to && slice.first <= slice.last) {
            match self.write_slice(slice, stage) {
                Planned::Broken => return Planned::Broken,
                Planned::More => planned = Planned::More,
                Planned::Whole => {}
            }
        }
        planned
    }

    fn write_slice(&mut self, slice: Slice, stage: u8) -> Planned {
        let Some(way) = self.way(slice) else { return Planned::Broken };
        let (parity, row) = (self.parity_member(slice.row), slice.row);
        let written = |index: &u64| (slice.first..=slice.last).contains(index);
        if stage == 0 && !matches!(way, Way::Plain) {
            let modify = matches!(way, Way::Modify);
            for index in (0..self.data()).filter(|index| written(index) == modify) {
                self.push(self.data_member(row, index), CommandKind::Read, slice);
            }
            if modify {
                self.push(parity, CommandKind::Read, slice);
            }
            return Planned::More;
        }
        if stage == 0 || !matches!(way, Way::Plain) {
            for index in slice.first..=slice.last {
                let member = self.data_member(row, index);
                if self.holds(member, slice) {
                    self.push(member, CommandKind::Write, slice);
                }
            }
            if self.holds(parity, slice) {
                self.push(parity, CommandKind::Write, slice);
            }
        }
        Planned::Whole
    }

    /// Return the method of writing a slice with the present members; `None` if impossible.
    fn way(&self, slice: Slice) -> Option<Way> {
        let parity = self.parity_member(slice.row);
        let mut missing = (0..self.members.count()).filter(|&member| !self.holds(member, slice));
        let (one, two) = (missing.next(), missing.next());
        if two.is_some() {
            return None;
        }
        let written = slice.last - slice.first + 1;
        let alone = self.data() - written;
        if alone == 0 || one == Some(parity) {
            return Some(Way::Plain);
        }
        Some(match one {
            Some(member) => {
                let overwritten = (slice.first..=slice.last).any(|index| self.data_member(slice.row, index) == member);
                if overwritten { Way::Reconstruct } else { Way::Modify }
            }
            None if written + 1 < alone => Way::Modify,
            None => Way::Reconstruct,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Null;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const UNIT: u64 = 4096;

    fn members(count: u32) -> Members<Null> {
        Members::new((0..count).map(|_| Null::default()).collect(), false)
    }

    fn planned(
        layout: &mut Layout,
        kind: CommandKind,
        from: u64,
        units: u64,
        stage: u8,
        of: &Members<Null>,
    ) -> Vec<Piece> {
        let (offset_bytes, length_bytes) = (from * UNIT, (units * UNIT) as u32);
        let command = Command { id: 0, kind, offset_bytes, length_bytes, fua: false, stream: 0 };
        let mut pieces = vec![];
        assert_ne!(layout.plan(&command, stage, of, &mut pieces), Planned::Broken);
        pieces
    }

    /// Return the units that parts touch.
    fn places(pieces: &[Piece]) -> Vec<(u32, u64)> {
        let of = |piece: &Piece| {
            let (member, first) = (piece.member, piece.offset_bytes / UNIT);
            (first..first + u64::from(piece.length_bytes) / UNIT).map(move |unit| (member, unit))
        };
        pieces.iter().flat_map(of).collect()
    }

    fn layouts(chunk_units: u64) -> [Layout; 2] {
        [Layout::Stripe { chunk: chunk_units * UNIT }, Layout::Parity { chunk: chunk_units * UNIT }]
    }

    proptest! {
        #[test]
        fn each_byte_has_one_place(count in 3u32..9, chunk in 0u32..5, from in 0u64..2000, units in 1u64..200) {
            let of = members(count);
            for mut layout in layouts(1 << chunk) {
                let each: Vec<(u32, u64)> = (from..from + units)
                    .flat_map(|unit| places(&planned(&mut layout, CommandKind::Read, unit, 1, 0, &of)))
                    .collect();
                prop_assert_eq!(each.len() as u64, units);
                let distinct: BTreeSet<_> = each.iter().copied().collect();
                prop_assert_eq!(distinct.len(), each.len(), "{:?}", layout);
                let at_once = places(&planned(&mut layout, CommandKind::Read, from, units, 0, &of));
                prop_assert_eq!(at_once.len(), each.len());
                prop_assert_eq!(at_once.into_iter().collect::<BTreeSet<_>>(), distinct, "{:?}", layout);
            }
        }

        #[test]
        fn stripe_sends_one_part_per_member(count in 1u32..9, from in 0u64..500, units in 1u64..500) {
            let pieces = planned(&mut layouts(4)[0], CommandKind::Write, from, units, 0, &members(count));
            let distinct: BTreeSet<u32> = pieces.iter().map(|piece| piece.member).collect();
            prop_assert_eq!(distinct.len(), pieces.len());
        }

        #[test]
        fn parity_write_writes_data_and_parity_of_each_row(
            count in 3u32..8, from in 0u64..300, units in 1u64..120,
        ) {
            let of = members(count);
            let mut layout = layouts(4)[1];
            let mut written = planned(&mut layout, CommandKind::Write, from, units, 0, &of);
            written.retain(|piece| piece.kind == CommandKind::Write);
            let more = planned(&mut layout, CommandKind::Write, from, units, 1, &of);
            prop_assert!(more.iter().all(|piece| piece.kind == CommandKind::Write));
            written.extend(more);
            let written = places(&written);
            let distinct: BTreeSet<(u32, u64)> = written.iter().copied().collect();
            prop_assert_eq!(distinct.len(), written.len(), "nothing is written twice");
            let data: BTreeSet<_> = places(&planned(&mut layout, CommandKind::Read, from, units, 0, &of)).into_iter().collect();
            prop_assert!(data.is_subset(&distinct));
            // Parity of each touched row is written, and nothing else.
            let parity: BTreeSet<(u32, u64)> = data
                .iter()
                .map(|&(_, unit)| ((u64::from(count) - 1 - (unit / 4) % u64::from(count)) as u32, unit))
                .collect();
            prop_assert_eq!(&distinct - &data, parity);
        }

        #[test]
        fn parity_without_one_member_reads_and_writes_all(
            count in 3u32..8, gone in 0u32..8, from in 0u64..300, units in 1u64..60,
        ) {
            let mut of = members(count);
            let gone = gone % count;
            of.fail(gone, &mut vec![], 0);
            let mut layout = layouts(4)[1];
            let read = planned(&mut layout, CommandKind::Read, from, units, 0, &of);
            prop_assert!(read.iter().all(|piece| piece.member != gone));
            let read = places(&read);
            prop_assert_eq!(read.iter().collect::<BTreeSet<_>>().len(), read.len(), "nothing is read twice");
            for stage in 0..2 {
                let written = planned(&mut layout, CommandKind::Write, from, units, stage, &of);
                prop_assert!(written.iter().all(|piece| piece.member != gone));
            }
            of.fail((gone + 1) % count, &mut vec![], 0);
            let row = 4 * UNIT as u32 * (count - 1);
            let command = Command { id: 0, kind: CommandKind::Read, offset_bytes: 0, length_bytes: row, fua: false, stream: 0 };
            prop_assert_eq!(layout.plan(&command, 0, &of, &mut vec![]), Planned::Broken);
        }
    }

    #[test]
    fn degraded_row_read_reads_each_other_member_once() {
        for gone in 0..4 {
            let mut of = members(4);
            of.fail(gone, &mut vec![], 0);
            for row in 0..4 {
                let read = planned(&mut layouts(4)[1], CommandKind::Read, row * 12, 12, 0, &of);
                assert_eq!((read.len(), places(&read).len()), (3, 12), "{read:?}");
            }
        }
    }

    #[test]
    fn parity_rotates_left_symmetrically() {
        let of = members(5);
        let rows = Rows { chunk: 4096, members: &of, pieces: &mut vec![] };
        let parity: Vec<u32> = (0..10).map(|row| rows.parity_member(row)).collect();
        assert_eq!(parity, [4, 3, 2, 1, 0, 4, 3, 2, 1, 0]);
        assert_eq!((0..4).map(|index| rows.data_member(1, index)).collect::<Vec<_>>(), [4, 0, 1, 2]);
    }
}
