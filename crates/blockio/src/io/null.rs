//! Backend without I/O: each request completes with the next wait. The remaining cost is the
//! generator's own.

use crate::io::{Queue, Reaped, Request};
use std::io;
use std::time::Duration;
use tameshi_base::Nanos;

/// Queue whose requests complete at once.
pub(crate) struct Null {
    pushed: Vec<Reaped>,
}

impl Null {
    /// Create a queue for `depth` requests.
    pub(crate) fn new(depth: u32) -> Self {
        Self { pushed: Vec::with_capacity(depth as usize) }
    }
}

impl Queue for Null {
    #[inline]
    fn push(&mut self, request: Request) -> io::Result<bool> {
        self.pushed.push(Reaped { slot: request.slot, result: request.length as i32 });
        Ok(false)
    }

    #[inline]
    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()> {
        if self.pushed.is_empty() && patience > 0 {
            std::thread::sleep(Duration::from_nanos(patience));
        }
        reaped.append(&mut self.pushed);
        Ok(())
    }
}
