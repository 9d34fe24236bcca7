//! Device without cost: the floor of every simulation, and the yardstick of the simulator's own
//! speed.

use super::completion::{Breakdown, DeviceCompletion};
use super::model::{Model, NoDevice};
use crate::device::loss::Loss;
use tameshi_base::{Command, Nanos};

/// Device that completes every command at the time of its submission, in that order.
#[derive(Debug, Default)]
pub struct Null {
    pending: Vec<(Nanos, Command)>,
}

impl Model for Null {
    type Inner = NoDevice;

    #[inline]
    fn submit(&mut self, now: Nanos, command: &Command) {
        self.pending.push((now, *command));
    }

    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        self.pending.first().map(|&(at, _)| at)
    }

    #[inline]
    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let due = self.pending.partition_point(|&(at, _)| at <= now);
        let done = self.pending.drain(..due);
        completions.extend(done.map(|(at, command)| DeviceCompletion {
            command,
            submitted: at,
            at,
            breakdown: Breakdown::default(),
            failed: false,
        }));
    }

    fn lose_power(&mut self, _now: Nanos) -> Loss {
        self.pending.clear();
        Loss::default()
    }
}
