//! Row locks: exclusive, held to the end of the transaction, given in the order in which they were asked for. And the locks
//! of trees, which one client at a time has while it changes several pages of one; reads pass them (from 5.7 on).
//!
//! Reads without a lock see older versions and take none. Each client waits for one lock at most, so that whether it would
//! wait for itself is told by following who waits for whom.

use std::collections::VecDeque;

/// Nobody.
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u64,
    owner: u32,
    first_waiting: u32,
}

const VACANT: Entry = Entry { row: 0, owner: NOBODY, first_waiting: NOBODY };

/// What became of a request for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The client has it.
    Granted,
    /// It has to wait.
    Waits,
    /// Waiting would never end: everybody in the circle waits for the next.
    Deadlock,
}

/// All locks, in an open-addressing table.
#[derive(Debug)]
pub(super) struct Locks {
    entries: Vec<Entry>,
    taken: usize,
    /// Per client the rows it holds.
    held: Vec<Vec<u64>>,
    /// Per client the row it waits for, and who waits behind it.
    waiting: Vec<Option<u64>>,
    behind: Vec<u32>,
    /// By table, who has the lock of its tree, and who waits for it.
    trees: Vec<(u32, VecDeque<u32>)>,
}

impl Locks {
    /// No locks, of so many clients.
    pub(super) fn new(clients: usize) -> Self {
        Self {
            entries: vec![VACANT; 1 << 12],
            taken: 0,
            held: vec![Vec::new(); clients],
            waiting: vec![None; clients],
            behind: vec![NOBODY; clients],
            trees: Vec::new(),
        }
    }

    /// Asks for the lock of a table's tree: whether the client has it, or waits to be told by [`Locks::leave`].
    pub(super) fn enter(&mut self, client: u32, table: u8) -> bool {
        let table = usize::from(table);
        if self.trees.len() <= table {
            self.trees.resize(table + 1, (NOBODY, VecDeque::new()));
        }
        let (owner, waiting) = &mut self.trees[table];
        match *owner {
            NOBODY => *owner = client,
            owner if owner == client => {}
            _ => waiting.push_back(client),
        }
        *owner == client
    }

    /// Gives the lock of a table's tree back; returns who has it now.
    pub(super) fn leave(&mut self, table: u8) -> Option<u32> {
        let (owner, waiting) = &mut self.trees[usize::from(table)];
        let next = waiting.pop_front();
        *owner = next.unwrap_or(NOBODY);
        next
    }

    /// Asks for a row's lock.
    pub(super) fn ask(&mut self, client: u32, row: u64) -> Asked {
        if (self.taken + 1) * 2 > self.entries.len() {
            self.widen();
        }
        let at = self.place(row);
        let entry = &mut self.entries[at];
        if entry.owner == NOBODY {
            *entry = Entry { row, owner: client, first_waiting: NOBODY };
            self.taken += 1;
            self.held[client as usize].push(row);
            return Asked::Granted;
        }
        if entry.owner == client {
            return Asked::Granted;
        }
        if self.would_wait_for_itself(client, at) {
            return Asked::Deadlock;
        }
        self.waiting[client as usize] = Some(row);
        self.behind[client as usize] = NOBODY;
        let mut last = self.entries[at].first_waiting;
        if last == NOBODY {
            self.entries[at].first_waiting = client;
        } else {
            while self.behind[last as usize] != NOBODY {
                last = self.behind[last as usize];
            }
            self.behind[last as usize] = client;
        }
        Asked::Waits
    }

    /// Gives back all locks of a client; `woken` gets the clients that have theirs now.
    pub(super) fn release(&mut self, client: u32, woken: &mut Vec<u32>) {
        let mut held = std::mem::take(&mut self.held[client as usize]);
        for row in held.drain(..) {
            let at = self.place(row);
            let next = self.entries[at].first_waiting;
            if next == NOBODY {
                self.vacate(at);
                continue;
            }
            self.entries[at].owner = next;
            self.entries[at].first_waiting = self.behind[next as usize];
            self.waiting[next as usize] = None;
            self.held[next as usize].push(row);
            woken.push(next);
        }
        self.held[client as usize] = held;
    }

    /// Clients that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.iter().filter(|row| row.is_some()).count()
    }

    /// Follows from the owner of an entry to what it waits for. Behind a lock stand those who asked before, who wait too.
    fn would_wait_for_itself(&self, client: u32, at: usize) -> bool {
        let mut owner = self.entries[at].owner;
        for _ in 0..self.waiting.len() {
            let Some(row) = self.waiting[owner as usize] else { return false };
            owner = self.entries[self.place(row)].owner;
            if owner == client {
                return true;
            }
        }
        false
    }

    fn place(&self, row: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = (row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.entries[at].owner != NOBODY && self.entries[at].row != row {
            at = (at + 1) & mask;
        }
        at
    }

    /// Empties an entry and moves up what was displaced by it.
    fn vacate(&mut self, mut at: usize) {
        let mask = self.entries.len() - 1;
        self.entries[at] = VACANT;
        self.taken -= 1;
        let hole = &mut at;
        let mut next = (*hole + 1) & mask;
        while self.entries[next].owner != NOBODY {
            let home = (self.entries[next].row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(*hole) & mask) {
                self.entries[*hole] = self.entries[next];
                self.entries[next] = VACANT;
                *hole = next;
            }
            next = (next + 1) & mask;
        }
    }

    fn widen(&mut self) {
        let wider = vec![VACANT; self.entries.len() * 2];
        let before = std::mem::replace(&mut self.entries, wider);
        for entry in before.into_iter().filter(|entry| entry.owner != NOBODY) {
            let at = self.place(entry.row);
            self.entries[at] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::Random;

    #[test]
    fn locks_are_given_in_the_order_of_asking() {
        let mut locks = Locks::new(4);
        assert_eq!(locks.ask(0, 7), Asked::Granted);
        assert_eq!(locks.ask(0, 7), Asked::Granted);
        assert_eq!([locks.ask(2, 7), locks.ask(1, 7)], [Asked::Waits, Asked::Waits]);
        let mut woken = Vec::new();
        locks.release(0, &mut woken);
        assert_eq!(woken, [2]);
        locks.release(2, &mut woken);
        assert_eq!(woken, [2, 1]);
    }

    #[test]
    fn a_tree_has_one_at_a_time_in_the_order_of_asking() {
        let mut locks = Locks::new(3);
        assert!(locks.enter(0, 5) && locks.enter(0, 5) && locks.enter(2, 1));
        assert!(!locks.enter(1, 5) && !locks.enter(2, 5));
        assert_eq!(locks.leave(5), Some(1));
        assert!(locks.enter(1, 5));
        assert_eq!([locks.leave(5), locks.leave(5)], [Some(2), None]);
        assert!(locks.enter(0, 5));
    }

    #[test]
    fn a_circle_of_three_is_found() {
        let mut locks = Locks::new(3);
        (0..3).for_each(|client| assert_eq!(locks.ask(client, u64::from(client)), Asked::Granted));
        assert_eq!([locks.ask(0, 1), locks.ask(1, 2)], [Asked::Waits, Asked::Waits]);
        assert_eq!(locks.ask(2, 0), Asked::Deadlock);
        let mut woken = Vec::new();
        locks.release(2, &mut woken);
        assert_eq!(woken, [1]);
    }

    #[test]
    fn no_row_has_two_owners_and_none_is_forgotten() {
        let (mut locks, mut random) = (Locks::new(8), Random::named(1, "locks"));
        let mut held: Vec<Vec<u64>> = vec![Vec::new(); 8];
        let mut wants = [None; 8];
        for _ in 0..20_000 {
            let client = random.below(8) as usize;
            if wants[client].is_some() {
                continue;
            }
            let row = random.below(3000) << 40;
            let asked = if held[client].len() < 12 { locks.ask(client as u32, row) } else { Asked::Deadlock };
            match asked {
                Asked::Granted => {
                    let elsewhere = (0..8).filter(|&other| other != client).any(|other| held[other].contains(&row));
                    assert!(!elsewhere);
                    if !held[client].contains(&row) {
                        held[client].push(row);
                    }
                }
                Asked::Waits => wants[client] = Some(row),
                Asked::Deadlock => {
                    held[client].clear();
                    let mut woken = Vec::new();
                    locks.release(client as u32, &mut woken);
                    for next in woken {
                        let row = wants[next as usize].take().expect("it waited");
                        held[next as usize].push(row);
                    }
                }
            }
        }
        assert_eq!(locks.taken, held.iter().map(Vec::len).sum::<usize>());
        assert_eq!(locks.waiting(), wants.iter().flatten().count());
    }
}
