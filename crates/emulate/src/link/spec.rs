//! Settings of links, as Python sends them.

use serde::Deserialize;
use std::os::fd::RawFd;
use tameshi_base::{Nanos, Slow};

/// Settings of all links of some hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinksSpec {
    /// Name of the group of hosts, by which lists of processes show it.
    pub group: String,
    /// Links, by the number that messages name.
    pub links: Vec<LinkSpec>,
    /// Seed of the links' losses.
    pub seed: u64,
    /// Slow motion: the links' time passes that much slower.
    #[serde(default)]
    pub slow: Slow,
}

/// Settings of one link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Names of the two hosts.
    pub hosts: [String; 2],
    /// Descriptors of the TUN devices in their namespaces, which never wait.
    pub ends: [RawFd; 2],
    /// Time of one round trip of an empty message, both ends' work included.
    pub round_trip_ns: Nanos,
    /// Bytes of data per second each way.
    pub rate_bytes: u64,
    /// Share of packets that are lost, each way.
    #[serde(default)]
    pub loss: f64,
    /// Bytes of data that wait for others to cross, at most, each way.
    pub queue_bytes: u64,
}
