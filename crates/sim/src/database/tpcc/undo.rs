//! Undo records of TPC-C's transactions.

/// Undo record of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Undo {
    Next(u32),
    Order {
        district: u32,
        customer: u16,
        latest: u32,
    },
    /// A number taken without its district's lock.
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
