//! Carries programs out on the reference store.

use tameshi_base::Nanos;
use tameshi_workload::program::{Client, Memory, Outcome, Program, Reply, Seeds, Statement, Step, Transaction};

/// Record of one transaction.
pub struct Done {
    /// Its kind.
    pub kind: usize,
    /// Think time of its user after it.
    pub thinking: Nanos,
    /// Statements and commits, as a server counts them; opening a transaction is none.
    pub statements: u64,
    /// Outcome.
    pub outcome: Outcome,
}

/// A store with the program's data set.
pub fn loaded(program: &Program) -> Memory {
    let mut memory = Memory::new(program.catalogue());
    for chunk in program.chunks() {
        program.populate(chunk, 1_000_000_000, |row| memory.load(chunk.table, row));
    }
    memory
}

/// One transaction, to its end; `see` gets every statement with its reply.
pub fn one(client: &mut Client, memory: &mut Memory, date: i64, mut see: impl FnMut(&Statement, &Reply)) -> Done {
    let Transaction { kind, thinking, .. } = client.begin(date);
    let (mut reply, mut statement, mut statements) = (Reply::default(), Statement::default(), 0);
    loop {
        match client.next(&reply, &mut statement) {
            Step::Begin { .. } => {}
            Step::Run => {
                assert!(memory.execute(&statement, &mut reply), "{statement:?} gives a key a second row");
                see(&statement, &reply);
                statements += 1;
            }
            Step::Commit => {
                memory.commit();
                statements += 1;
            }
            Step::Rollback => {
                memory.roll_back();
                statements += 1;
            }
            Step::Done(outcome) => return Done { kind, thinking, statements, outcome },
        }
    }
}

/// All clients of a program, and what each did in `rounds` transactions, one client after the other
/// in each round.
pub fn work(program: &Program, memory: &mut Memory, clients: u32, rounds: u32, run: u64) -> (Vec<Client>, Vec<Done>) {
    let shared = program.shared();
    let seeds = Seeds { data: 1, run };
    let mut clients: Vec<Client> = (0..clients).map(|c| program.client(c, clients, seeds, &shared)).collect();
    let mut done = Vec::new();
    for round in 0..rounds {
        for client in &mut clients {
            done.push(one(client, memory, 1_000_000_000 + i64::from(round), |_, _| {}));
        }
    }
    (clients, done)
}
