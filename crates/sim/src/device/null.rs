//! A device without any cost: the floor of what is simulated, and the yardstick of the simulator's own speed.

use super::completion::{Breakdown, DeviceCompletion};
use crate::faults::loss::Loss;
use tameshi_base::{Command, Nanos};

/// Completes every command at the time of its submission, in that order.
#[derive(Debug, Default)]
pub struct Null {
    pending: Vec<(Nanos, Command)>,
}

impl Null {
    /// Power fails: what is under way is forgotten.
    pub(crate) fn lose_power(&mut self) -> Loss {
        self.pending.clear();
        Loss::default()
    }

    #[inline]
    pub(super) fn submit(&mut self, now: Nanos, command: &Command) {
        self.pending.push((now, *command));
    }

    #[inline]
    pub(super) fn next_wake(&self) -> Option<Nanos> {
        self.pending.first().map(|&(at, _)| at)
    }

    #[inline]
    pub(super) fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
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
}
