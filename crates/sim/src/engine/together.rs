//! Statements that are computed in one piece.
//!
//! A client that has its pages and waits for nothing goes from one statement to the next; in fast mode the processor's work
//! of several is then one piece. Pages are got, changes logged and free locks taken earlier by that piece at most. What may
//! wait comes when all that lies before it is worked off, and so does the end of a transaction: what it adds to the log would go
//! out with what others flush meanwhile.

use super::Engine;
use super::plan::Op;
use super::stage::{After, Stage};
use tameshi_base::Nanos;

/// So much work makes a piece: some statements, and short beside a transaction or a processor's time slice.
const PIECE: Nanos = 500_000;

impl Engine {
    /// Whether statements are computed together.
    pub(crate) fn set_fast(&mut self, is_fast: bool) {
        self.together = if is_fast && self.settings.cpu.round_trip == 0 { PIECE } else { 0 };
    }

    /// A client computes a statement: now, or with those that follow.
    pub(super) fn compute(&mut self, client: u32, time: Nanos) {
        let seat = &mut self.clients[client as usize];
        seat.owed += time;
        if seat.owed < self.together && !seat.contends {
            seat.stage = Stage::Next;
            self.ready.push_back(client);
        } else {
            let time = std::mem::take(&mut seat.owed);
            self.begin_work(client, time, After::Statement);
        }
    }

    /// Whether a client has to work first for statements that lie behind it.
    pub(super) fn works_off(&mut self, client: u32, after: After) -> bool {
        let time = std::mem::take(&mut self.clients[client as usize].owed);
        if time > 0 {
            self.begin_work(client, time, after);
        }
        time > 0
    }

    /// Whether a client may have to wait for a step of its plan, or makes others wait.
    pub(super) fn may_wait(&self, client: u32, op: Op) -> bool {
        match op {
            Op::Get(_) | Op::Scan(..) | Op::Leave(_) => true,
            Op::Change(page, _) | Op::Create(page, _) | Op::Secondary(page, _) => !self.pool.holds(page),
            Op::Lock(row) => self.locks.has_another(client, row),
            Op::Enter(table) => self.locks.is_occupied(client, table),
        }
    }
}
