//! Construction of the devices that a stack is made of.

use crate::basics::seed_path::SeedPath;
use crate::device::Model;
use tameshi_spec::run::{Link, Node};
use tameshi_spec::study::Protocol;

/// Device that can be built as a member of an array.
pub trait Member: Model + Sized {
    /// Build the device that a node describes, at rest at time zero.
    ///
    /// # Errors
    /// A sentence that names the value no such device can have.
    fn build(node: &Node, seeds: &SeedPath) -> Result<Self, String>;

    /// Put a link in front of a device, across which writes follow a protocol.
    ///
    /// # Errors
    /// A sentence that names the value no link can have.
    fn behind_link(link: &Link, protocol: Protocol, device: Self) -> Result<Self, String>;
}
