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

/// So much work makes the first piece after a wait, some statements, and each that follows is twice as long, up to half of
/// a processor's usual time slice. Who waited together, as for the log, goes on together: the first pieces find all
/// processors busy, and what they find must not last.
const FIRST: Nanos = 500_000;
const LONGEST: Nanos = 2_000_000;

impl Engine {
    /// Whether statements are computed together.
    pub(crate) fn set_fast(&mut self, is_fast: bool) {
        self.together = is_fast && self.settings.cpu.round_trip == 0;
    }

    /// A client computes a statement: now, or with those that follow.
    pub(super) fn compute(&mut self, client: u32, time: Nanos) {
        let seat = &mut self.clients[client as usize];
        seat.owed += time;
        if self.together && seat.owed < seat.piece && !seat.contends {
            seat.stage = Stage::Next;
            self.ready.push_back(client);
        } else {
            let time = std::mem::take(&mut seat.owed);
            seat.piece = LONGEST.min(2 * seat.piece);
            self.begin_work(client, time, After::Statement);
        }
    }

    /// Whether a client, which may wait now, has to work first for statements that lie behind it.
    pub(super) fn works_off(&mut self, client: u32, after: After) -> bool {
        let seat = &mut self.clients[client as usize];
        seat.piece = FIRST;
        let time = std::mem::take(&mut seat.owed);
        if time > 0 {
            self.begin_work(client, time, after);
        }
        time > 0
    }

    /// Whether a client may have to wait for a step of its plan, or makes others wait.
    pub(super) fn may_wait(&self, client: u32, op: Op) -> bool {
        match op {
            Op::Get(_) | Op::Scan(..) | Op::Leave(_) => true,
            Op::Change(page, _) | Op::Create(page, _) | Op::Secondary(page, _) => self.pool.keeps_from_changing(page),
            Op::Lock(row) => self.locks.has_another(client, row),
            Op::Enter(table) => self.locks.is_occupied(client, table),
        }
    }
}
