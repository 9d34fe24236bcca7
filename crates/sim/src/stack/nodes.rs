//! What a device is, and what those hold that are made of devices: the type is recursive, so that all of it is in one place.

use super::cache::table::Table;
use super::errands::{self, Errand, Settings};
use super::order::Order;
use super::pieces::{self, Part, Piece};
use super::queues::Queues;
use super::rebuild::{Rebuilding, Spares};
use super::slab::Slab;
use super::turns::Turns;
use crate::device::completion::DeviceCompletion;
use crate::device::flash::Flash;
use crate::device::hdd::Hdd;
use crate::device::null::Null;
use crate::device::volume::Volume;
use crate::device::work::Work;
use crate::device::xpoint::XPoint;
use crate::faults::loss::Rebuilt;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tameshi_base::{Command, Nanos};
use tameshi_spec::run::{Link, Rebuild};
use tameshi_spec::study::ReadBalance;
use tameshi_workload::Priority;

/// A device of any kind.
#[derive(Debug)]
pub enum Device {
    /// Completes everything at once.
    Null(Box<Null>),
    /// A hard disk.
    Hdd(Box<Hdd>),
    /// A flash drive.
    Flash(Box<Flash>),
    /// A 3D XPoint drive.
    XPoint(Box<XPoint>),
    /// A disk known by its behaviour only.
    Volume(Box<Volume>),
    /// Members in stripes, as mirrors or with parity.
    Array(Box<Array>),
    /// A device across a link.
    Linked(Box<Linked>),
    /// A drive that several functions share.
    Shared(Box<Shared>),
    /// A device behind a cache.
    Cache(Box<Cache>),
}

/// A device made of devices.
#[derive(Debug)]
pub struct Array {
    pub(super) layout: Layout,
    pub(super) members: Members,
    pub(super) ops: Slab<pieces::Op>,
    pub(super) order: Order,
    /// Operations that end without a member: when, in which order, which.
    pub(super) timed: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    pub(super) sequence: u64,
    /// What replaces a member; how large a member is, and how many drives.
    pub(super) spares: Spares,
    pub(super) member_bytes: u64,
    pub(super) drives: u32,
    pub(super) settings: Rebuild,
    /// Whether a write counts as done when the first member has it.
    pub(super) first_suffices: bool,
    /// What lies before every member but the first.
    pub(super) link: Option<Link>,
    /// The far side is used alone since the near one is gone with its machine.
    pub(crate) alone: bool,
    pub(super) rebuilding: Option<Rebuilding>,
    /// Replaced members whose turn has not come.
    pub(super) waiting: VecDeque<u32>,
    pub(super) rebuilt: Option<Rebuilt>,
    /// Writes and bytes that only a near side held which has died, until they are told.
    pub(super) lost: (u64, u64),
    /// Bytes that rebuilds have written.
    pub(super) rebuilt_bytes: u64,
    /// Reused by each plan and advance.
    pub(super) pieces: Vec<Piece>,
    pub(super) done: Vec<DeviceCompletion>,
}

/// All members.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) members: Vec<Member>,
    pub(super) parts: Slab<Part>,
    /// The earliest wake, and whose it is.
    pub(super) next: (Nanos, usize),
    /// Commands of users so far.
    pub(super) activity: u64,
    /// Commands of users outstanding at any member.
    pub(super) busy: u32,
}

/// A member of an array.
#[derive(Debug)]
pub(super) struct Member {
    /// `None` since it died.
    pub(super) device: Option<Device>,
    pub(super) wake: Nanos,
    /// Bytes from its start that hold what they should: all of them unless it is being filled.
    pub(super) filled: u64,
    /// Commands of users outstanding.
    pub(super) outstanding: u32,
    /// How many of them so far somebody waited for.
    pub(super) waited_for: u64,
    /// Where its last command ended.
    pub(super) last_end: u64,
    /// Whether it has an arm.
    pub(super) has_arm: bool,
    /// What is asked of it by the commands of users and of rebuilds that are here, as [`Member::weight`] has it.
    pub(super) asked: [u64; 2],
    /// That, added up over time, until when.
    pub(super) present: [Nanos; 2],
    pub(super) present_until: Nanos,
    /// For how long it was at work on the rebuilds' last command, and how long that was here.
    pub(super) served: (Nanos, Nanos),
    /// Nanojoules that those before it drew; and what a new one would have drawn, had it been there from time zero.
    pub(super) drawn_before_nj: u64,
    pub(super) not_drawn_nj: u64,
}

/// How an array lays out its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Chunks in turn.
    Stripe { chunk: u64 },
    /// Everything everywhere.
    Mirror { read: Choice },
    /// Chunks in turn, with one of parity in each row.
    Parity { chunk: u64 },
}

/// Which member of a mirror serves a read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// By the load and place of each; `turn` is whose turn it is.
    Balanced { balance: ReadBalance, turn: u32 },
    /// The first that holds it.
    First,
}

/// A command on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) command: Command,
    pub(super) submitted: Nanos,
    pub(super) queue: Nanos,
    pub(super) link: Nanos,
}

/// A device across a link.
#[derive(Debug)]
pub struct Linked {
    pub(super) there: Nanos,
    pub(super) back: Nanos,
    pub(super) bytes_per_second: u64,
    /// From when on the next bytes may cross, there and back.
    pub(super) free: [Nanos; 2],
    /// How long each way has worked and will have when all that has begun to cross is across.
    pub(super) crossed: [Nanos; 2],
    pub(super) crossings: Slab<Crossing>,
    /// On the way there: when each arrives, in that order.
    pub(super) outbound: VecDeque<(Nanos, u32)>,
    /// On the way back, in the order of arrival.
    pub(super) homebound: VecDeque<DeviceCompletion>,
    pub(super) device: Device,
    pub(super) done: Vec<DeviceCompletion>,
}

/// A drive and the queues of its functions.
#[derive(Debug)]
pub struct Shared {
    pub(super) device: Device,
    pub(super) functions: Vec<Queues>,
    pub(super) turns: Turns,
    /// Of the streams of the phase under way, by their numbers; of all others, the usual one.
    pub(super) priorities: Vec<Priority>,
    /// Bytes of one function.
    pub(super) slice_bytes: u64,
    pub(super) depth: u32,
    pub(super) held: u32,
    /// Time that places were taken, of all together, up to a moment.
    pub(super) taken: (Nanos, Nanos),
    pub(super) waiting: u32,
    pub(super) commands: Slab<(Command, Nanos)>,
    pub(super) done: Vec<DeviceCompletion>,
}

/// A device with a cache in front of it.
#[derive(Debug)]
pub struct Cache {
    pub(super) settings: Settings,
    pub(super) device: Device,
    pub(super) table: Table,
    pub(super) ops: Slab<errands::Op>,
    pub(super) order: Order,
    pub(super) timed: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    pub(super) sequence: u64,
    pub(super) errands: Slab<Errand>,
    /// Writes that wait for room.
    pub(super) waiting: VecDeque<u32>,
    /// Blocks dirty or being written back.
    pub(super) dirty: u64,
    /// Of them, being written back: commands.
    pub(super) backs: u32,
    pub(super) reads: u32,
    pub(super) batch: Vec<u64>,
    pub(super) free_at: Nanos,
    /// What bytes take to pass, or will.
    pub(super) crossing: Work,
    pub(super) writers: u64,
    pub(super) generation: u64,
    /// A flush that drains, and the blocks it still waits for.
    pub(super) draining: Option<(u32, u64)>,
    pub(super) done: Vec<DeviceCompletion>,
}
