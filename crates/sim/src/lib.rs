//! The simulated world: modelled devices under a workload, in virtual time.
//!
//! [`execute`] carries out one resolved run. Nothing here reads a clock, a file or the environment, and nothing depends
//! on the order of a hash: the same spec gives the same digest on any machine, alone or beside others.

pub mod agenda;
mod chance;
mod check;
mod database;
pub mod device;
mod digest;
mod due;
mod error;
pub mod fault;
mod host;
mod near;
mod phase;
mod places;
mod power;
mod run;
mod seats;
pub mod stack;
mod staging;
mod world;

pub use chance::Chance;
pub use check::unsupported;
pub use device::{Breakdown, Device, DeviceCompletion};
pub use error::SimError;
pub use run::execute;
