//! A flash drive's parameters: NAND, channels, translation layer, buffer, link.

mod geometry;
mod limits;
mod slc_cache;

pub(super) use limits::flash_drive;

use super::{LatencyPoint, Pcie, Sourced};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Share, Size, Temperature, Time};

/// A flash drive: several controllers under one address space, each with its own channels, dies
/// and translation layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
    /// Spare flash as a share of the capacity, parity left out: (flash − capacity) / capacity.
    pub over_provisioning: Sourced<Share>,
    /// Bytes that the translation layer maps as one; a smaller write reads and rewrites them.
    pub mapping_unit: Sourced<Size>,
    /// Bytes that a single write may have and still be stored whole or not at all when power fails;
    /// absent: one mapping unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_write: Option<Sourced<Size>>,
    /// The flash itself.
    pub nand: Nand,
    /// Controllers, and the channels of each.
    pub controller: Controller,
    /// Memory that writes complete in.
    pub buffer: Buffer,
    /// Between host and drive.
    pub link: HostLink,
    /// Space reclamation.
    pub cleaning: Cleaning,
    /// Blocks that are written fast, with one bit in a cell, and emptied later; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCache>,
    /// Background work while the drive has no command; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// Additional cost of reads as the flash wears; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_retry: Option<ReadRetry>,
    /// Spread of latencies beyond what flash, buses and queues cause; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Power draw and its limit; absent: not modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Set by the resolver from the study, never in a file.
    #[serde(default, skip_serializing_if = "Simulated::is_plain")]
    pub simulated: Simulated,
}

/// Simulation of a flash drive, as a study sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulated {
    /// The drive has one n-th of its capacity.
    pub scale: u32,
    /// Writes before the run.
    pub written: Written,
    /// Share of its addresses that the storage uses and that were written.
    pub used: Share,
    /// Failed channels of each controller.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dead_channels: u32,
    /// Wear in percent of its endurance, instead of the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worn_percent: Option<u32>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Writes to a flash drive before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    /// Nothing: it is as new.
    #[default]
    Never,
    /// All that is used, once, from begin to end.
    Once,
    /// All that is used, once in order and then three times at random: as random writes of one
    /// mapping unit leave it.
    Steady,
}

impl Default for Simulated {
    fn default() -> Self {
        Self { scale: 1, written: Written::Never, used: Share::WHOLE, dead_channels: 0, worn_percent: None }
    }
}

impl Simulated {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

impl FlashProfile {
    /// Bytes that can be addressed at the drive's scale: whole mapping units on every controller.
    pub fn scaled_capacity(&self) -> Size {
        if self.simulated.scale <= 1 {
            return self.capacity.value;
        }
        let stripe = self.controller.interleave.value.0 * u64::from(self.controller.count.value);
        let scaled = self.capacity.value.0 / u64::from(self.simulated.scale);
        Size(scaled - scaled % stripe.max(1))
    }
}

/// NAND flash: its cells, its geometry, its times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nand {
    /// Bits in a cell.
    pub cell: Sourced<Cell>,
    /// Bytes of a page.
    pub page: Sourced<Size>,
    /// Pages of an erase block.
    pub pages_per_block: Sourced<u32>,
    /// Planes of a die that work together: a program writes one page in each.
    pub planes: Sourced<u32>,
    /// Sensing a page: one time for each bit of a cell (lower, upper …), in the order of the pages.
    pub read_time: Sourced<Vec<Time>>,
    /// Programming a page: one time for each bit of a cell.
    pub program_time: Sourced<Vec<Time>>,
    /// Erasing a block.
    pub erase_time: Sourced<Time>,
    /// Interrupting a program or an erase for a read, and going on with it afterwards; absent:
    /// reads wait for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_time: Option<Sourced<Time>>,
    /// Program and erase cycles that a block is good for.
    pub endurance_cycles: Sourced<u32>,
}

/// Bits in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// One bit.
    Slc,
    /// Two bits.
    Mlc,
    /// Three bits.
    Tlc,
    /// Four bits.
    Qlc,
}

impl Cell {
    /// Bits in a cell, which is the number of kinds of pages.
    pub fn bits(self) -> usize {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// Path through the controllers and their memory, which one transfer takes at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedPath {
    /// Bytes per second of reads by the host.
    pub read_rate: Sourced<Rate>,
    /// Bytes per second of writes by the host, and of data that cleaning moves.
    pub write_rate: Sourced<Rate>,
}

/// Controllers with their channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Controllers under the one address space.
    pub count: Sourced<u32>,
    /// Consecutive bytes of the address space that go to one controller.
    pub interleave: Sourced<Size>,
    /// Channels of each controller that hold data.
    pub data_channels: Sourced<u32>,
    /// Channels of each controller that hold parity, whose place rotates: 0, or 1 for RAID 5 across
    /// the channels.
    pub parity_channels: Sourced<u32>,
    /// Dies on a channel.
    pub dies_per_channel: Sourced<u32>,
    /// Bytes per second on a channel's bus.
    pub channel_rate: Sourced<Rate>,
    /// Reads that one controller starts per second at most.
    pub read_rate: Sourced<Rate>,
    /// Writes that one controller starts per second at most.
    pub write_rate: Sourced<Rate>,
    /// Time of a read in the electronics, in parallel with others.
    pub read_overhead: Sourced<Time>,
    /// Time of a write in the electronics before its acknowledgement, in parallel with others.
    pub write_overhead: Sourced<Time>,
    /// Bytes per second that all controllers together move between host and buffers, both ways
    /// added up; absent: the link's rate each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_rate: Option<Sourced<Rate>>,
    /// Path that all data share, the host's and what cleaning moves; absent: moved data take no
    /// time of it. Excludes `transfer_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_path: Option<SharedPath>,
    /// Commands the drive holds; more wait in the host.
    pub queue_depth: Sourced<u32>,
    /// True if a flush can't be queued, as with Serial ATA: it waits for all earlier commands,
    /// reads too, and later commands wait for it; absent: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_alone: Option<Sourced<bool>>,
    /// Functions that guests can be given (SR-IOV); absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Sourced<u32>>,
}

/// The write buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Bytes of it.
    pub size: Sourced<Size>,
    /// Protection that writes the buffer to flash on power failure; absent: the content is lost,
    /// and a flush waits for the flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_loss_protection: Option<PowerLossProtection>,
    /// Without that, what it takes to write what has changed of the map once the data are in the
    /// flash, before a flush is over; absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_write_time: Option<Sourced<Time>>,
}

/// A capacitor and its load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerLossProtection {
    /// Time that writing the full buffer to the flash takes.
    pub flush_time: Sourced<Time>,
    /// Time that the capacitor holds the drive up.
    pub hold_up: Sourced<Time>,
}

/// Between host and drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostLink {
    /// Bytes per second towards the host.
    pub read_rate: Sourced<Rate>,
    /// Bytes per second towards the drive.
    pub write_rate: Sourced<Rate>,
    /// True if data move one way at a time (SATA), false if both ways at once (PCI Express, SAS).
    pub half_duplex: Sourced<bool>,
    /// Lanes and generation of the drive's connector, which must carry those rates; absent: not PCI
    /// Express.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie: Option<Sourced<Pcie>>,
}

/// Space reclamation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cleaning {
    /// Policy to choose the next block to reclaim.
    pub policy: Sourced<CleaningPolicy>,
    /// Blocks (over all dies of a controller) kept erased: below this, writing and reclaiming keep
    /// step.
    pub reserve_blocks: Sourced<u32>,
    /// True if relocated data go to blocks of their own.
    pub separate_relocated: Sourced<bool>,
    /// Hot data lie apart from cold ones, the host's as well as the relocated: hot is what is
    /// written again within this share of as many writes as the drive has mapping units. Needs
    /// `separate_relocated`; absent: they are not distinguished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separate_hot: Option<Sourced<Share>>,
}

/// Policy to choose the next block to reclaim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CleaningPolicy {
    /// The block with the fewest valid units.
    Greedy,
    /// The block that was closed first.
    Fifo,
    /// The best of `drawn` blocks drawn at random.
    Choices {
        /// Blocks drawn.
        drawn: u32,
    },
    /// Any block.
    Random,
    /// The block with the most age · (1 − u) / u, u being its valid share: hot blocks are left to
    /// ripen, cold ones are not.
    CostBenefit,
}

/// An SLC cache: as long as erased blocks beyond the reserve are there, the host's data go to
/// blocks that hold one bit in a cell; those are moved into blocks that hold all bits when the
/// drive idles, if it does anything then, or by its reclaiming.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Bytes of the host's data that it holds at most.
    pub size: Sourced<Size>,
    /// Sensing a page of it.
    pub read_time: Sourced<Time>,
    /// Programming a page of it.
    pub program_time: Sourced<Time>,
}

/// A drive that idles empties its SLC cache and reclaims blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// It idles once it has held no command for so long.
    pub after: Sourced<Time>,
    /// Bytes of flash beyond the reserve that it gets erased then, as far as reclaiming gains
    /// enough; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<Sourced<Size>>,
}

/// Reads that must be repeated with other reference voltages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadRetry {
    /// Share of senses that must be repeated once a block has seen its endurance; before, it grows
    /// with the square of the wear.
    pub at_end_of_life: Sourced<Share>,
    /// Time of a repeated sense, new voltages included.
    pub retry_time: Sourced<Time>,
    /// Wear of the flash at the run's begin, as a share of its endurance.
    pub worn: Sourced<Share>,
    /// Program and erase cycles beyond its endurance for which repeated reads keep the flash
    /// readable, as a share of the endurance; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_life: Option<Sourced<Share>>,
}

/// Time that a command takes longer than its overhead, drawn anew for each one: firmware, error
/// correction, look-ups of the map, refreshing. It delays no other command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Of a read.
    pub read: Sourced<Vec<LatencyPoint>>,
    /// Of a write, before its acknowledgement.
    pub write: Sourced<Vec<LatencyPoint>>,
}

/// Power draw and its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Milliwatts of the idle drive.
    pub idle_mw: Sourced<u32>,
    /// Milliwatts that it may draw; beyond, programs, erases and what is sensed to be moved wait.
    /// Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_mw: Option<Sourced<u32>>,
    /// Nanojoules of sensing a page of each plane of a die.
    pub read_nj: Sourced<u32>,
    /// Nanojoules of programming a page of each plane of a die.
    pub program_nj: Sourced<u32>,
    /// Nanojoules of erasing a block of each plane of a die.
    pub erase_nj: Sourced<u32>,
    /// Thermal model; absent: not modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<Thermal>,
}

/// Thermal model: heating by the power draw, and the throttle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// Temperature around the drive.
    pub ambient: Sourced<Temperature>,
    /// Thermal resistance: millikelvin that each watt it draws for long makes it warmer than what
    /// is around it.
    pub resistance_mk_per_w: Sourced<u32>,
    /// Heat capacity: millijoules that make it warmer by one kelvin.
    pub capacity_mj_per_k: Sourced<u32>,
    /// Temperature at which it is throttled.
    pub throttle: Sourced<Temperature>,
    /// Temperature at which it is throttled no longer.
    pub release: Sourced<Temperature>,
    /// Milliwatts that it may draw while it is throttled; beyond, whatever takes the flash waits,
    /// the host's reads too.
    pub limit_mw: Sourced<u32>,
}
