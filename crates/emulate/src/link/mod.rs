//! Links between the hosts of the emulated world: packets between network namespaces.
//!
//! The ends of a link are two TUN devices, one in each host's namespace. One thread forwards the
//! packets of all links, by the clock and with the slow motion of a served drive. [`Way`](way::Way)
//! is one direction: it holds packets until they are due, and reads no clock.

mod forwarder;
mod headers;
mod measure;
mod messages;
mod packets;
mod spec;
mod tun;
mod way;

pub use forwarder::forward_packets;
pub use measure::{link_rate, link_round_trip};
pub use spec::{LinkSpec, LinksSpec};
