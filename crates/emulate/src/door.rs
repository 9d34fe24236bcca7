//! Contract of a door: the kernel's requests as plain data.

use std::io;
use tameshi_base::{CommandKind, Nanos};

/// Request of the kernel to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number that the door gave it, for its payload and its answer.
    pub tag: u32,
    /// Operation.
    pub kind: CommandKind,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; zero for a flush.
    pub length: u64,
}

/// Properties of the drive that its users see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub bytes: u64,
    /// The drive takes trims.
    pub trims: bool,
    /// The drive has to be flushed.
    pub flushes: bool,
    pub is_rotational: bool,
}

/// Source of requests: bytes on one side, [`Request`]s on the other.
pub trait Door {
    /// Append requests that have arrived.
    ///
    /// # Errors
    /// The kernel closed the door, or refused a call.
    fn collect(&mut self, arrivals: &mut Vec<Request>) -> io::Result<()>;

    /// Return the buffer of a request: data of a write, room for the data of a read.
    fn payload(&mut self, tag: u32) -> &mut [u8];

    /// Answer a request with its number of bytes, or an error number.
    ///
    /// # Errors
    /// The kernel refused a call.
    fn complete(&mut self, tag: u32, result: Result<u32, i32>) -> io::Result<()>;

    /// Pass answers to the kernel; do not wait.
    ///
    /// # Errors
    /// The kernel refused a call.
    fn submit(&mut self) -> io::Result<()>;

    /// Pass answers to the kernel and wait for a request, a control message or the end of
    /// `patience`; without it wait forever.
    ///
    /// # Errors
    /// The kernel refused a call.
    fn wait(&mut self, patience: Option<Nanos>) -> io::Result<()>;

    /// Return whether a control message may have arrived since the last call.
    fn take_control(&mut self) -> bool;

    /// Return whether the kernel has closed the door.
    fn is_closed(&self) -> bool;

    /// Return the door's name in the status.
    fn name(&self) -> &'static str;

    /// Follow the drive's power; answers to all requests under way have been given before it goes.
    ///
    /// # Errors
    /// The kernel refused a call.
    fn switch(&mut self, _is_on: bool) -> io::Result<()> {
        Ok(())
    }
}
