//! Fast mode of simulated databases: simulate a phase until it is steady, then extrapolate its
//! rest.

mod decay;
mod extrapolation;
pub(crate) mod fast_mode;
mod growth;
mod interval_writer;
mod judge;
mod segment;
mod sums;
mod trend;
mod windows;
