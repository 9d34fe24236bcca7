//! Simulated world: device models under a workload, in virtual time.
//!
//! [`execute`] carries out one resolved run. The crate reads no clock, file or environment, and no
//! result depends on hash order: the same spec gives the same digest on any machine.

mod basics;
mod database;
pub mod device;
mod error;
mod extrapolate;
pub mod faults;
mod host;
mod kernel;
pub mod stack;

pub use basics::calendar_queue::CalendarQueue;
pub use basics::seed_path::SeedPath;
pub use device::{Breakdown, DeviceCompletion};
pub use error::SimError;
pub use kernel::run::execute;
pub use kernel::validate::refusals;
pub use stack::Device;
