//! What a drive remembers: of each controller, of the commands it holds, of a dead channel, of the map, of idling, of what it moves.

use super::die::NONE;
use super::ftl::{Frontier, Ftl};
use super::layout::Place;
use crate::device::completion::{Breakdown, DeviceCompletion};
use crate::kernel::prefetch::prefetch;
use tameshi_base::{Command, CommandKind, Nanos};

/// One controller.
#[derive(Debug)]
pub(super) struct Controller {
    pub(super) ftl: Ftl,
    /// When it takes its next command.
    pub(super) next_turn: Nanos,
    /// Program units that fill up, by frontier.
    pub(super) filling: [u32; Frontier::COUNT],
    /// Units of the host's data in each of them.
    pub(super) buffered: [u16; Frontier::COUNT],
    /// Moved units among the host's in the one of them where they have no blocks of their own.
    pub(super) moved: u16,
    /// Units to move, times the denominator of the pace.
    pub(super) owed: u64,
    /// Erases that scaled blocks owe their dies, and whose turn it is.
    pub(super) erase_debt: u32,
    pub(super) erase_turn: u32,
    /// The program unit that is being moved, by reclaiming and by a rebuild, and by frontier the relocation that fills up.
    pub(super) sensing: [u32; 2],
    pub(super) relocation: [u32; Frontier::COUNT],
    /// For each program unit the programs that are not over, one that fills up among them: its data are still in the buffer.
    pub(super) unprogrammed: Vec<u8>,
    /// All of them together.
    pub(super) programs: u32,
    pub(super) first_die: u32,
    /// Since a channel died.
    pub(super) degraded: Option<Box<Degraded>>,
    /// Whether all its blocks are alike: no channel has died, none is of a cache.
    pub(super) is_uniform: bool,
}

impl Controller {
    /// Data of a program unit are in the buffer until they are programmed.
    #[inline]
    pub(super) fn enters_buffer(&mut self, unit: u32) {
        self.unprogrammed[unit as usize] += 1;
        self.programs += 1;
    }

    #[inline]
    pub(super) fn leaves_buffer(&mut self, unit: u32) {
        self.unprogrammed[unit as usize] -= 1;
        self.programs -= 1;
    }

    /// A mapping unit of a frontier was taken, and its program unit is not full by it.
    #[inline]
    pub(super) fn fills(&mut self, frontier: usize, unit: u32) {
        if std::mem::replace(&mut self.filling[frontier], unit) != unit {
            self.enters_buffer(unit);
        }
    }

    /// The program unit is full; its data stay in the buffer until they are programmed.
    #[inline]
    pub(super) fn is_filled(&mut self, frontier: usize, unit: u32) {
        if std::mem::replace(&mut self.filling[frontier], NONE) != unit {
            self.enters_buffer(unit);
        }
    }
}

/// A command that the drive holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// As it will be told; where its time went, but for what is only known at its end.
    pub(super) done: DeviceCompletion,
    pub(super) epoch: u64,
    /// When its data have crossed the link and the electronics have seen it.
    pub(super) ready: Nanos,
    /// Mapping units that have no place in the buffer yet.
    pub(super) next: u64,
    pub(super) end: u64,
    /// Programs that it waits for.
    pub(super) programs: u32,
    pub(super) durable: bool,
    /// Whether it begins or ends within a mapping unit, of which the rest is not looked for yet.
    pub(super) edges: bool,
}

/// A slot that no command has had.
pub(super) const UNUSED: Slot = Slot {
    done: DeviceCompletion {
        command: Command { id: 0, kind: CommandKind::Flush, offset_bytes: 0, length_bytes: 0, fua: false, stream: 0 },
        submitted: 0,
        at: 0,
        breakdown: Breakdown { queue: 0, host: 0, link: 0, controller: 0, media: 0, garbage_collection: 0, rebuild: 0 },
        failed: false,
    },
    epoch: 0,
    ready: 0,
    next: 0,
    end: 0,
    programs: 0,
    durable: false,
    edges: false,
};

/// What a controller knows since its first channel died.
#[derive(Debug)]
pub(super) struct Degraded {
    /// Where the program units of a block lie that was erased when none, one, two … channels had died; and how many of a stripe
    /// hold data.
    pub(super) layouts: Vec<(Vec<Place>, u32)>,
    /// The channel that died last, counted over the drive, and when.
    pub(super) channel: u32,
    pub(super) since: Nanos,
    /// Program units of the rebuild that are on their way.
    pub(super) outstanding: u32,
    /// Whether the program unit of the host's that fills up holds some of it; where nothing is separate.
    pub(super) filling: bool,
    /// Units moved, all rebuilds together, and before the present one.
    pub(super) moved: (u64, u64),
    /// Whether its end is still to come.
    pub(super) going_on: bool,
}

/// The writing of what has changed of the map.
#[derive(Debug, Default)]
pub(super) struct MapWriting {
    /// Whether something has changed since the last writing began.
    pub(super) changed: bool,
    pub(super) is_under_way: bool,
    /// When the last one ended.
    pub(super) ended: Nanos,
    /// Flushes that wait for the one under way, or that the last one was for.
    pub(super) flushes: usize,
    /// Writes that wait for the one under way, and those that wait for the next: their slots, and when their last program began.
    pub(super) writes: Vec<(u32, Nanos)>,
    pub(super) later: Vec<(u32, Nanos)>,
    /// The die that wrote last.
    pub(super) die: usize,
}

/// When the drive idles.
#[derive(Debug)]
pub(super) struct Idle {
    /// It does once it has held no command for so long.
    pub(super) after: Nanos,
    /// When the last command left.
    pub(super) since: Nanos,
    /// Whether its event is among those to come.
    pub(super) is_awaited: bool,
}

impl Idle {
    pub(super) fn new(after: Nanos) -> Self {
        Self { after, since: 0, is_awaited: false }
    }
}

/// Relocated program units that wait until what goes into them has been sensed.
#[derive(Debug, Default)]
pub(super) struct Relocations {
    pub(super) list: Vec<Relocation>,
    pub(super) unused: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Relocation {
    pub(super) controller: u32,
    /// The program unit; [`NONE`] while it still fills up.
    pub(super) unit: u32,
    /// Senses that are not over.
    pub(super) senses: u32,
    /// Whether some of it is of a rebuild.
    pub(super) renews: bool,
}

impl Relocations {
    pub(super) fn open(&mut self, controller: u32) -> u32 {
        let new = Relocation { controller, unit: NONE, senses: 0, renews: false };
        match self.unused.pop() {
            Some(number) => {
                self.list[number as usize] = new;
                number
            }
            None => {
                self.list.push(new);
                (self.list.len() - 1) as u32
            }
        }
    }

    /// Brings a relocation nearer to the processor.
    #[inline]
    pub(super) fn prefetch(&self, relocation: u32) {
        prefetch(&self.list, relocation as usize);
    }

    /// One more sense must be over.
    pub(super) fn expect(&mut self, relocation: u32) {
        if let Some(of) = self.list.get_mut(relocation as usize) {
            of.senses += 1;
        }
    }
}
