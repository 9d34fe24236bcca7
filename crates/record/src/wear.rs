//! Flash wear: programs by cause, occupancy and erase cycles.

/// Counts since the run's start and current states, of all flash of one storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// Bytes written to the drives: by the host, and an array's copies, parity and rebuilds.
    pub written_bytes: u64,
    /// Bytes programmed for these writes: whole mapping units.
    pub host_bytes: u64,
    /// Bytes programmed by garbage collection.
    pub moved_bytes: u64,
    /// Bytes left empty by early durable writes.
    pub padded_bytes: u64,
    /// Physical capacity, without parity.
    pub physical_bytes: u64,
    /// Addressable capacity.
    pub logical_bytes: u64,
    /// Mapped bytes.
    pub mapped_bytes: u64,
    /// Erased bytes.
    pub erased_bytes: u64,
    /// Mapped bytes in SLC caches; `None` if no drive has one.
    pub cached_bytes: Option<u64>,
    /// Capacity given up for SLC caches, whose cells hold one bit and could hold more.
    pub given_up_bytes: u64,
    /// Remaining program endurance of the cells, at full capacity.
    pub life_bytes: u64,
    /// Endurance beyond that, since failing reads are retried.
    pub retry_life_bytes: u64,
    /// Erase cycles of all blocks together.
    pub cycles: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Erase cycles of the most worn block.
    pub cycles_max: u64,
}

impl Wear {
    /// Add another drive of the same storage.
    pub fn add(&mut self, other: &Self) {
        self.written_bytes += other.written_bytes;
        self.host_bytes += other.host_bytes;
        self.moved_bytes += other.moved_bytes;
        self.padded_bytes += other.padded_bytes;
        self.physical_bytes += other.physical_bytes;
        self.logical_bytes += other.logical_bytes;
        self.mapped_bytes += other.mapped_bytes;
        self.erased_bytes += other.erased_bytes;
        self.cached_bytes =
            [self.cached_bytes, other.cached_bytes].into_iter().flatten().reduce(|all, more| all + more);
        self.given_up_bytes += other.given_up_bytes;
        self.life_bytes = self.life_bytes.saturating_add(other.life_bytes);
        self.retry_life_bytes = self.retry_life_bytes.saturating_add(other.retry_life_bytes);
        self.cycles += other.cycles;
        self.blocks += other.blocks;
        self.cycles_max = self.cycles_max.max(other.cycles_max);
    }

    /// Rows by metric: counts of an interval that began with `before`, and states at its end.
    pub fn rows(&self, before: &Self) -> Vec<(&'static str, u64)> {
        let mut rows = vec![
            ("flash.written_bytes", self.written_bytes.saturating_sub(before.written_bytes)),
            ("flash.host_bytes", self.host_bytes.saturating_sub(before.host_bytes)),
            ("flash.moved_bytes", self.moved_bytes.saturating_sub(before.moved_bytes)),
            ("flash.padded_bytes", self.padded_bytes.saturating_sub(before.padded_bytes)),
            ("flash.physical_bytes", self.physical_bytes),
            ("flash.logical_bytes", self.logical_bytes),
            ("flash.mapped_bytes", self.mapped_bytes),
            ("flash.erased_bytes", self.erased_bytes),
            ("flash.life_bytes", self.life_bytes),
            ("flash.retry_life_bytes", self.retry_life_bytes),
            ("flash.cycles_mean_permille", self.cycles.saturating_mul(1000).checked_div(self.blocks).unwrap_or(0)),
            ("flash.cycles_max", self.cycles_max),
        ];
        if let Some(cached) = self.cached_bytes {
            rows.extend([("flash.cached_bytes", cached), ("flash.given_up_bytes", self.given_up_bytes)]);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_counts_per_interval_and_states_at_its_end() {
        let before = Wear { host_bytes: 100, moved_bytes: 50, mapped_bytes: 7, ..Wear::default() };
        let mut after = Wear { host_bytes: 300, moved_bytes: 50, mapped_bytes: 9, cycles: 3, blocks: 2, ..before };
        let rows = after.rows(&before);
        let of = |name: &str| rows.iter().find(|(metric, _)| *metric == name).map(|(_, value)| *value);
        assert_eq!(of("flash.host_bytes"), Some(200));
        assert_eq!(of("flash.moved_bytes"), Some(0));
        assert_eq!(of("flash.mapped_bytes"), Some(9));
        assert_eq!(of("flash.cycles_mean_permille"), Some(1500));
        assert_eq!(of("flash.cached_bytes"), None, "no drive has a cache");
        after.add(&Wear { cycles: 9, blocks: 1, cycles_max: 9, cached_bytes: Some(5), ..Wear::default() });
        assert_eq!((after.cycles, after.blocks, after.cycles_max), (12, 3, 9));
        assert!(after.rows(&before).contains(&("flash.cached_bytes", 5)));
    }
}
