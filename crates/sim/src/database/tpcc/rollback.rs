//! What TPC-C's transactions change, and how it is taken back.

use super::State;

/// What was changed and may have to be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Undo {
    Next(u32),
    Order {
        district: u32,
        customer: u16,
        latest: u32,
    },
    /// A number that was taken without its district's lock, and who had the order that came of it.
    Taken {
        district: u32,
        order: u32,
    },
    Placed {
        district: u32,
        customer: u16,
        order: u32,
        latest: u32,
    },
    Delivered {
        district: u32,
        order: u32,
    },
}

impl State {
    /// Takes back what a transaction changed.
    pub(in super::super) fn roll_back(&mut self, undo: &mut Vec<Undo>) {
        while let Some(change) = undo.pop() {
            match change {
                Undo::Next(district) => self.district(district as usize).next -= 1,
                Undo::Order { district, customer, latest } => {
                    let district = self.district(district as usize);
                    district.orders.pop();
                    district.latest[usize::from(customer)] = latest;
                }
                Undo::Taken { district, order } => self.district(district as usize).give_up(order),
                Undo::Placed { district, customer, order, latest } => {
                    let last = &mut self.district(district as usize).latest[usize::from(customer)];
                    *last = if *last == order { latest } else { *last };
                }
                Undo::Delivered { district, order } => {
                    let oldest = &mut self.district(district as usize).oldest;
                    *oldest -= i64::from(*oldest == i64::from(order) + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::layout::Layout;
    use crate::database::plan::Plan;
    use crate::database::tpcc::groups;
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;
    use tameshi_workload::program::tpcc::schema::sql;
    use tameshi_workload::program::tpcc::{Sizes, Tpcc};
    use tameshi_workload::program::{Client, Manner, Program, Reply, Seeds, Statement, Step, Value};

    /// Warehouse and district.
    type District = (i64, i64);

    /// What a client is at, and its order: where, its number, customer and lines.
    #[derive(Default)]
    struct Seat {
        reply: Reply,
        statement: Statement,
        undo: Vec<Undo>,
        placed: Option<(District, i64, (i64, i64))>,
    }

    fn begin(client: &mut Client) {
        let _ = client.begin(1_000_000_000);
    }

    fn int(statement: &Statement, at: usize) -> i64 {
        if let Value::Int(value) = statement.parameters.get(at) { value } else { panic!("a number") }
    }

    #[test]
    fn without_row_locks_each_order_has_a_number_of_its_own_and_what_is_rolled_back_leaves_a_gap() {
        let spec = tameshi_workload::program::Tpcc {
            warehouses: Some(1),
            clients: 8,
            manner: Manner::TpccMysql,
            waits: Default::default(),
            delivery: Default::default(),
            rate: None,
        };
        let tpcc = Arc::new(Tpcc::new(&spec, Sizes { items: 500, districts: 3, customers: 60 }, 7));
        let program = Program::Tpcc(Arc::clone(&tpcc));
        let mut state = State::new(&tpcc, false);
        let mut layout = Layout::new(&program.catalogue().tables, (1, 1, 0), |table| groups(&tpcc, table));
        let (mut plan, seeds) = (Plan::default(), Seeds { data: 7, run: 3 });
        let mut clients: Vec<(Client, Seat)> =
            (0..8).map(|number| (program.client(number, 8, seeds, &program.shared()), Seat::default())).collect();
        clients.iter_mut().for_each(|(client, _)| begin(client));
        let (mut orders, mut delivered, mut gone) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        // One statement of each in turn, so that all of their transactions are under way at once.
        for turn in 0..160_000 {
            let (client, seat) = &mut clients[turn % 8];
            match client.next(&seat.reply, &mut seat.statement) {
                Step::Begin { .. } => {}
                Step::Run => {
                    plan.clear();
                    state.statement(&mut layout, &seat.statement, (&mut plan, &mut seat.reply), &mut seat.undo);
                    let of = |at: usize| int(&seat.statement, at);
                    match seat.statement.shape {
                        sql::INSERT_ORDER => seat.placed = Some(((of(2), of(1)), of(0), (of(3), of(6)))),
                        sql::DELETE_NEW_ORDER if seat.reply.affected == 1 => {
                            assert!(delivered.insert(((of(0), of(1)), of(2))), "nothing is delivered twice");
                        }
                        _ => {}
                    }
                }
                Step::Commit => {
                    seat.undo.clear();
                    if let Some((district, number, order)) = seat.placed.take() {
                        assert_eq!(orders.insert((district, number), order), None, "{district:?}: {number} again");
                    }
                }
                Step::Rollback => {
                    state.roll_back(&mut seat.undo);
                    gone.extend(seat.placed.take().map(|(district, number, _)| (district, number)));
                }
                Step::Done(_) => begin(client),
            }
        }
        assert!(orders.len() > 1000 && gone.len() > 5, "{} orders, {} gone", orders.len(), gone.len());
        assert!(gone.iter().all(|of| !orders.contains_key(of) && !delivered.contains(of)));
        assert!(delivered.iter().any(|of| orders.contains_key(of)), "new ones are delivered, too");
        for (((w, d), number), (customer, lines)) in orders {
            let found = state.order(state.number(w, d), number);
            assert_eq!((i64::from(found.customer), i64::from(found.lines), found.gone), (customer, lines, false));
        }
    }
}
