//! Room for what grows: where a data set outgrows its storage a real server finds no space left, and the run ends.

use super::Engine;
use tameshi_base::Size;

/// The storage of a data set, and what becomes of the room on it.
#[derive(Debug)]
pub(super) struct Space {
    storage: String,
    size: Size,
    /// Pages when the run began.
    loaded: u32,
    /// Pages when the phase's ramp was over, and transactions that were simulated since.
    since_ramp: (u32, u64),
    /// Pages that came in what was not simulated.
    foreseen: u64,
}

impl Space {
    pub(super) fn new(storage: String, size: Size, loaded: u32) -> Self {
        Self { storage, size, loaded, since_ramp: (loaded, 0), foreseen: 0 }
    }

    /// A phase begins with so many pages.
    pub(super) fn begin(&mut self, pages: u32) {
        self.since_ramp = (pages, 0);
    }

    /// So many transactions more were simulated, which left so many pages; none: the ramp goes on.
    pub(super) fn simulated(&mut self, pages: u32, transactions: u64) {
        self.since_ramp.1 += transactions;
        if self.since_ramp.1 == 0 {
            self.since_ramp.0 = pages;
        }
    }

    /// With those that were not simulated the phase has so many transactions.
    pub(super) fn foresee(&mut self, pages: u32, transactions: u64) {
        let (before, simulated) = self.since_ramp;
        let rest = transactions.saturating_sub(simulated);
        self.foreseen += (u64::from(pages - before) * rest).checked_div(simulated).unwrap_or(0);
    }
}

impl Engine {
    /// Why the storage has no room for what the data set has grown to.
    pub(crate) fn no_space(&self) -> Option<String> {
        let (layout, space) = (&self.layout, &self.space);
        let pages = u64::from(layout.next) + u64::from(layout.is_full) + space.foreseen;
        let bytes = |pages| Size(self.settings.bytes_up_to(pages).next_multiple_of(1 << 20));
        (pages > u64::from(layout.room))
            .then(|| no_space(&space.storage, space.size, (bytes(u64::from(space.loaded)), bytes(pages))))
    }
}

/// What is wrong where a data set outgrows its storage: what it was when it was loaded, with the log, and is now.
fn no_space(storage: &str, size: Size, (loaded, grown): (Size, Size)) -> String {
    format!(
        "storage.{storage}.size: log and data set grow from {loaded} to {grown}, and the storage has {size}: a real \
         server would find no space left; make the storage larger, or the run shorter"
    )
}
