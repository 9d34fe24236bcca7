//! Emulated world: a simulated drive served to the kernel in real time.
//!
//! One served drive is one thread, one io_uring and one clock. [`Drive`] holds the bytes and the
//! simulator's device and reads no clock. A [`Door`] turns requests of the kernel, or of clients
//! over a socket, into [`Request`]s.
//! [`serve`] drives both: arrivals, the device's completions and control messages pass through one
//! loop, so they have a total order.
//!
//! [`forward_packets`] carries packets between hosts, which are network namespaces, across links
//! with the model's figures.

mod backing;
mod calibrate;
mod clock;
mod control;
mod corruption;
mod door;
mod drive;
mod far_side;
mod fate;
mod floor;
mod fuse;
mod lateness;
mod link;
mod mapping;
mod members;
mod nbd;
mod pace;
mod refusals;
mod ring;
mod serve;
mod slowdown;
mod spec;
mod store;
mod undo;

pub use calibrate::path_latency;
pub use corruption::{Corruption, Refused};
pub use door::{Door, Request};
pub use drive::{Departure, Drive, FailedOver, Power};
pub use fate::{Cut, Durability, Fate};
pub use floor::idle_latencies;
pub use link::{LinkSpec, LinksSpec, forward_packets, link_rate, link_round_trip};
pub use nbd::nbd_latency;
pub use refusals::{refusals, unserved};
pub use serve::serve;
pub use spec::ServeSpec;
pub use store::{PAGE, Store};
pub use undo::UndoLog;
