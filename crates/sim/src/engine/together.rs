//! Statements that are computed in one go.
//!
//! A client that has its pages and waits for no lock goes from one statement to the next; in fast mode the processor's
//! work of several is then one piece. Their pages are got, their changes logged and their locks taken earlier by that
//! piece at most. Before a lock that another has, and before the transaction ends, what is owed is worked off.

use super::Engine;
use super::client::{After, Stage};
use tameshi_base::Nanos;

/// So much work makes a piece: long beside a statement, short beside a page read from a disk or a turn of the log.
const PIECE: Nanos = 1_000_000;

impl Engine {
    /// Whether statements are computed together.
    pub(crate) fn set_fast(&mut self, is_fast: bool) {
        self.together = if is_fast && self.settings.cpu.round_trip == 0 { PIECE } else { 0 };
    }

    /// Whether a client, which has a statement to compute, goes on to its next one before.
    pub(super) fn adds_up(&mut self, client: u32, time: Nanos) -> bool {
        if time >= self.together {
            return false;
        }
        let seat = &mut self.clients[client as usize];
        (seat.cpu, seat.stage) = (time, Stage::Next);
        self.ready.push_back(client);
        true
    }

    /// Whether a client has to work first before it asks for a row's lock: another has it.
    pub(super) fn is_held_up(&mut self, client: u32, row: u64) -> bool {
        self.together > 0 && self.locks.has_another(client, row) && self.works_off(client, After::Scan)
    }

    /// Whether a client has to work first for statements that lie behind it.
    pub(super) fn works_off(&mut self, client: u32, after: After) -> bool {
        let seat = &mut self.clients[client as usize];
        if self.together == 0 || seat.cpu == 0 {
            return false;
        }
        let time = std::mem::take(&mut seat.cpu);
        self.begin_work(client, time, after);
        true
    }
}
