//! Room for the growth of a data set: a real server that outgrows its storage finds no space left,
//! and the run ends.

use super::layout::Layout;
use super::settings::Settings;
use tameshi_base::Size;

/// Growth of a data set on its storage.
#[derive(Debug)]
pub(super) struct Space {
    storage: String,
    size: Size,
    /// Pages when the run began.
    loaded: u32,
    /// Pages at the end of the phase's ramp, and transactions simulated since.
    since_ramp: (u32, u64),
    /// Pages added by transactions that were not simulated.
    extrapolated: u64,
    /// Bytes of the log, if it has a storage of its own.
    log_elsewhere: u64,
}

impl Space {
    pub(super) fn new((storage, size): (String, Size), loaded: u32, log_elsewhere: u64) -> Self {
        Self { storage, size, loaded, since_ramp: (loaded, 0), extrapolated: 0, log_elsewhere }
    }

    /// Begin a phase.
    pub(super) fn begin(&mut self, pages: u32) {
        self.since_ramp = (pages, 0);
    }

    /// Note simulated transactions, and the pages after them; without any the ramp continues.
    pub(super) fn simulated(&mut self, pages: u32, transactions: u64) {
        self.since_ramp.1 += transactions;
        if self.since_ramp.1 == 0 {
            self.since_ramp.0 = pages;
        }
    }

    /// Extrapolate to all of the phase's transactions, simulated or not.
    pub(super) fn extrapolate(&mut self, pages: u32, transactions: u64) {
        let (before, simulated) = self.since_ramp;
        let rest = transactions.saturating_sub(simulated);
        self.extrapolated += (u64::from(pages - before) * rest).checked_div(simulated).unwrap_or(0);
    }

    /// Error if the storage has no room for the data set.
    pub(super) fn shortage(&self, layout: &Layout, settings: &Settings) -> Option<String> {
        let pages = u64::from(layout.next) + u64::from(layout.is_full) + self.extrapolated;
        let bytes = |pages| Size((settings.bytes_up_to(pages) - self.log_elsewhere).next_multiple_of(1 << 20));
        let what = if self.log_elsewhere > 0 { "the data set grows" } else { "log and data set grow" };
        let sizes = (bytes(u64::from(self.loaded)), bytes(pages));
        (pages > u64::from(layout.room)).then(|| no_space((&self.storage, self.size), what, sizes))
    }
}

/// Error of a data set that outgrows its storage, from its bytes at loading to those now.
fn no_space((storage, size): (&str, Size), what: &str, (loaded, grown): (Size, Size)) -> String {
    format!(
        "storage.{storage}.size: {what} from {loaded} to {grown}, and the storage has {size}: a real \
         server would find no space left; make the storage larger, or the run shorter"
    )
}
