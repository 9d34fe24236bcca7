//! Drive models in virtual time, and the contract that all devices share.
//!
//! A driver submits commands with [`Model::submit`], asks [`Model::next_wake`] for the time of the
//! next event, and collects completions with [`Model::advance`]. A completion is not fixed at
//! submission, so a device may reorder queued commands. No call allocates once the queues have
//! grown to the load.
//!
//! **Durability**
//! - A flush completes when all earlier writes and trims have completed. Reads pass it, unless the
//!   interface cannot queue a flush.
//! - A completed write is durable, and force unit access changes nothing, unless a volatile buffer
//!   holds the write: a flash drive without power-loss protection, a disk's write cache, a cache
//!   without a battery.
//! - In front of a volatile buffer, only flushed writes are durable.

mod barrier;
pub(crate) mod busy_time;
mod completion;
mod draws;
pub mod flash;
mod hdd;
pub(crate) mod in_place;
pub(crate) mod loss;
mod model;
mod null;
pub(crate) mod pace;
pub(crate) mod power_draw;
mod queue_full;
mod volume;
mod xpoint;

pub use completion::{Breakdown, DeviceCompletion};
pub use flash::Flash;
pub use hdd::Hdd;
pub use model::{Model, NoDevice};
pub use null::Null;
pub use volume::Volume;
pub use xpoint::XPoint;
