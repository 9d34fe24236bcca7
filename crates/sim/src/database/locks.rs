//! Row locks: exclusive, held to the end of the transaction, granted in the order of requests. And
//! tree locks: one client at a time holds a tree's while it changes several of its pages; reads
//! pass it (from 5.7 on).
//!
//! Reads without a lock see older versions and take none. Each client waits for one lock at most.
//! So a deadlock is found by following the chain of waiting clients.

use std::collections::VecDeque;

/// No client.
const NO_CLIENT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u64,
    owner: u32,
    first_waiting: u32,
}

const VACANT: Entry = Entry { row: 0, owner: NO_CLIENT, first_waiting: NO_CLIENT };

/// Answer to a request for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The client holds it.
    Granted,
    /// The client has to wait.
    Waits,
    /// The wait would close a cycle.
    Deadlock,
}

/// All locks, in an open-addressing table.
#[derive(Debug)]
pub(super) struct Locks {
    entries: Vec<Entry>,
    taken: usize,
    /// Rows locked, by client.
    held: Vec<Vec<u64>>,
    /// Row that each client waits for, and the next client in its queue.
    waiting: Vec<Option<u64>>,
    next: Vec<u32>,
    /// Owner and queue of each table's tree lock.
    trees: Vec<(u32, VecDeque<u32>)>,
}

impl Locks {
    /// No locks, for a number of clients.
    pub(super) fn new(clients: usize) -> Self {
        Self {
            entries: vec![VACANT; 1 << 12],
            taken: 0,
            held: vec![Vec::new(); clients],
            waiting: vec![None; clients],
            next: vec![NO_CLIENT; clients],
            trees: Vec::new(),
        }
    }

    /// Request the lock of a table's tree. `false`: the client waits until [`Locks::leave`] returns
    /// it.
    pub(super) fn enter(&mut self, client: u32, table: u8) -> bool {
        let table = usize::from(table);
        if self.trees.len() <= table {
            self.trees.resize(table + 1, (NO_CLIENT, VecDeque::new()));
        }
        let (owner, waiting) = &mut self.trees[table];
        match *owner {
            NO_CLIENT => *owner = client,
            owner if owner == client => {}
            _ => waiting.push_back(client),
        }
        *owner == client
    }

    /// Release the lock of a table's tree. Return its new owner.
    pub(super) fn leave(&mut self, table: u8) -> Option<u32> {
        let (owner, waiting) = &mut self.trees[usize::from(table)];
        let next = waiting.pop_front();
        *owner = next.unwrap_or(NO_CLIENT);
        next
    }

    /// Request a row's lock.
    pub(super) fn ask(&mut self, client: u32, row: u64) -> Asked {
        if (self.taken + 1) * 2 > self.entries.len() {
            self.grow();
        }
        let at = self.place(row);
        let entry = &mut self.entries[at];
        if entry.owner == NO_CLIENT {
            *entry = Entry { row, owner: client, first_waiting: NO_CLIENT };
            self.taken += 1;
            self.held[client as usize].push(row);
            return Asked::Granted;
        }
        if entry.owner == client {
            return Asked::Granted;
        }
        if self.would_deadlock(client, at) {
            return Asked::Deadlock;
        }
        self.waiting[client as usize] = Some(row);
        self.next[client as usize] = NO_CLIENT;
        let mut last = self.entries[at].first_waiting;
        if last == NO_CLIENT {
            self.entries[at].first_waiting = client;
        } else {
            while self.next[last as usize] != NO_CLIENT {
                last = self.next[last as usize];
            }
            self.next[last as usize] = client;
        }
        Asked::Waits
    }

    /// Release all locks of a client. `woken` gets the clients that hold theirs now.
    pub(super) fn release(&mut self, client: u32, woken: &mut Vec<u32>) {
        let mut held = std::mem::take(&mut self.held[client as usize]);
        for row in held.drain(..) {
            let at = self.place(row);
            let next = self.entries[at].first_waiting;
            if next == NO_CLIENT {
                self.vacate(at);
                continue;
            }
            self.entries[at].owner = next;
            self.entries[at].first_waiting = self.next[next as usize];
            self.waiting[next as usize] = None;
            self.held[next as usize].push(row);
            woken.push(next);
        }
        self.held[client as usize] = held;
    }

    /// Number of clients that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.iter().filter(|row| row.is_some()).count()
    }

    /// Follow the chain from an entry's owner to the lock that it waits for. Earlier requests in
    /// a lock's queue wait for its owner, too.
    fn would_deadlock(&self, client: u32, at: usize) -> bool {
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
        while self.entries[at].owner != NO_CLIENT && self.entries[at].row != row {
            at = (at + 1) & mask;
        }
        at
    }

    /// Empty an entry, and move entries up that it displaced.
    fn vacate(&mut self, mut at: usize) {
        let mask = self.entries.len() - 1;
        self.entries[at] = VACANT;
        self.taken -= 1;
        let hole = &mut at;
        let mut next = (*hole + 1) & mask;
        while self.entries[next].owner != NO_CLIENT {
            let home = (self.entries[next].row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(*hole) & mask) {
                self.entries[*hole] = self.entries[next];
                self.entries[next] = VACANT;
                *hole = next;
            }
            next = (next + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let wider = vec![VACANT; self.entries.len() * 2];
        let before = std::mem::replace(&mut self.entries, wider);
        for entry in before.into_iter().filter(|entry| entry.owner != NO_CLIENT) {
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
    fn locks_are_granted_in_the_order_of_requests() {
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
    fn tree_lock_has_one_owner_in_the_order_of_requests() {
        let mut locks = Locks::new(3);
        assert!(locks.enter(0, 5) && locks.enter(0, 5) && locks.enter(2, 1));
        assert!(!locks.enter(1, 5) && !locks.enter(2, 5));
        assert_eq!(locks.leave(5), Some(1));
        assert!(locks.enter(1, 5));
        assert_eq!([locks.leave(5), locks.leave(5)], [Some(2), None]);
        assert!(locks.enter(0, 5));
    }

    #[test]
    fn deadlock_of_three_is_found() {
        let mut locks = Locks::new(3);
        (0..3).for_each(|client| assert_eq!(locks.ask(client, u64::from(client)), Asked::Granted));
        assert_eq!([locks.ask(0, 1), locks.ask(1, 2)], [Asked::Waits, Asked::Waits]);
        assert_eq!(locks.ask(2, 0), Asked::Deadlock);
        let mut woken = Vec::new();
        locks.release(2, &mut woken);
        assert_eq!(woken, [1]);
    }

    #[test]
    fn no_row_has_two_owners_and_no_lock_is_lost() {
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
