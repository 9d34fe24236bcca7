//! Cumulative usage of a device or of the host, as intervals of the record report it.

use tameshi_base::Nanos;
use tameshi_record::{Heat, RecordError, Resource, Share, Usage, Wear, Writer};

/// Usage from the run's begin to some time.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsageTotals {
    pub(super) usage: Usage,
    pub(super) rebuilt_bytes: u64,
    /// Acknowledged bytes that replicas lack; `None` if nothing is acknowledged before replication.
    pub(super) behind_bytes: Option<u64>,
    /// Energy of the drives in nanojoules, if known.
    pub(super) energy_nj: Option<u64>,
    /// Temperature of the drives, if any has one.
    pub(super) heat: Option<Heat>,
    /// Wear of the flash, if any.
    pub(super) wear: Option<Wear>,
    /// Processor time of a database server, user and system, in nanoseconds.
    pub(super) server_ns: Option<[Nanos; 2]>,
}

impl UsageTotals {
    /// Extrapolate by a share of the usage between `begin` and `end`.
    pub(crate) fn after(&self, (begin, end): (&Self, &Self), share: Share) -> Self {
        let drawn = begin.energy_nj.zip(end.energy_nj).map(|(begin, end)| share.of(end.saturating_sub(begin)));
        let worked =
            begin.server_ns.zip(end.server_ns).map(|(begin, end)| increases(begin, end).map(|more| share.of(more)));
        Self {
            usage: self.usage.after((&begin.usage, &end.usage), share),
            rebuilt_bytes: self.rebuilt_bytes,
            behind_bytes: end.behind_bytes,
            energy_nj: self.energy_nj.zip(drawn).map(|(before, drawn)| before + drawn),
            heat: self.heat.zip(begin.heat.zip(end.heat)).map(|(heat, (begin, end))| heat.after((&begin, &end), share)),
            wear: self.wear.zip(begin.wear.zip(end.wear)).map(|(wear, (begin, end))| wear.after((&begin, &end), share)),
            server_ns: self.server_ns.zip(worked).map(|([user, system], more)| [user + more[0], system + more[1]]),
        }
    }

    /// Erased flash in bytes, if more than half of the flash is mapped.
    ///
    /// Garbage collection then costs more as erased flash runs out.
    pub(crate) fn erased_bytes(&self) -> Option<u64> {
        self.wear.filter(|wear| wear.mapped_bytes > wear.physical_bytes / 2).map(|wear| wear.erased_bytes)
    }

    /// Write the usage of an interval of `subject`; `self` is the usage at its begin.
    pub(super) fn write_interval(
        &self,
        (begin, end): (Nanos, Nanos),
        subject: &str,
        after: &Self,
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        let span = (begin, end);
        writer.usage(span, subject, &self.usage, &after.usage)?;
        if after.rebuilt_bytes > self.rebuilt_bytes {
            let rebuilt = after.rebuilt_bytes - self.rebuilt_bytes;
            writer.counters(span, subject, &[("rebuild.bytes", rebuilt)])?;
        }
        if let Some(behind) = after.behind_bytes {
            writer.counters(span, subject, &[("replica.behind_bytes", behind)])?;
        }
        if let Some((drawn, until)) = after.energy_nj.zip(self.energy_nj) {
            writer.counters(span, subject, &[("power.energy_nj", drawn.saturating_sub(until))])?;
        }
        if let Some(heat) = after.heat {
            let (drives, _) = after.usage.of(Resource::Thermal);
            writer.counters(span, subject, &heat.rows(&self.heat.unwrap_or_default(), drives))?;
        }
        if let Some((before, after)) = self.server_ns.zip(after.server_ns) {
            let [user, system] = increases(before, after);
            writer.counters(span, subject, &[("process.cpu_user_ns", user), ("process.cpu_system_ns", system)])?;
        }
        if let Some(wear) = after.wear {
            writer.counters(span, subject, &wear.rows(&self.wear.unwrap_or_default()))?;
        }
        Ok(())
    }
}

fn increases(before: [Nanos; 2], after: [Nanos; 2]) -> [Nanos; 2] {
    [0, 1].map(|at| after[at].saturating_sub(before[at]))
}
