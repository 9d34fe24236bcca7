//! Flash drive: controllers with a translation layer over channels of dies, behind a buffer and a
//! host link.
//!
//! **Write.** A command waits in the host while the drive is full, then for its controller. It
//! crosses the link, waits for room in the buffer, and completes. Its data are mapped at once, and
//! programmed once they fill a page of each plane.
//!
//! **Read.** The controller's overhead passes, pages are sensed on their dies, and data cross
//! channels and link. Data still in the buffer are read there. Unwritten addresses take no flash.
//!
//! **Buses** (channels, link) serve transfers in the order of the requests, except that data from a
//! faster die may overtake. A transfer ends when its data are there and the bus has had time for
//! all earlier requests.
//!
//! **Garbage collection** begins when the erased blocks fall below the reserve. From then on it
//! keeps pace with the host's writes, so the reserve neither grows nor shrinks. Its senses,
//! programs and erases wait on the same dies.
//!
//! **Durability.** With power-loss protection a buffered write is durable; force unit access and
//! flushes cost no more. Without it, a flush or a write with force unit access pads partly filled
//! pages and waits for the flash.
//!
//! Parts own their state; [`Flash`] coordinates them. `backend` holds all that lies behind the
//! write buffer.

mod admission;
mod backend;
mod buffer;
mod channels;
mod controller;
mod data_path;
mod degraded;
mod dies;
mod drive;
mod events;
pub mod ftl;
mod gc;
mod geometry;
mod idle;
mod jitter;
mod link;
mod map_writing;
mod nand;
mod power;
mod power_loss;
mod processors;
mod read_parts;
mod slots;
mod striping;
#[cfg(test)]
mod tests;
mod thermal;
mod timing;
mod wear;

pub use drive::Flash;
