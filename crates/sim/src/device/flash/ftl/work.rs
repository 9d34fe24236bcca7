//! Counters of a translation layer.

/// Units and blocks that a translation layer has written and erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Units written by the host.
    pub host_units: u64,
    /// Units moved by garbage collection.
    pub moved_units: u64,
    /// Units left empty to make data durable at once.
    pub padded_units: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Work {
    /// Return the programmed units.
    pub fn programmed_units(&self) -> u64 {
        self.host_units + self.moved_units + self.padded_units
    }

    /// Return programmed units per host unit; 1 before the first host write.
    pub fn write_amplification(&self) -> f64 {
        if self.host_units == 0 {
            return 1.0;
        }
        self.programmed_units() as f64 / self.host_units as f64
    }

    /// Return the work since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            host_units: self.host_units - before.host_units,
            moved_units: self.moved_units - before.moved_units,
            padded_units: self.padded_units - before.padded_units,
            erases: self.erases - before.erases,
        }
    }

    /// Add the work of another layer.
    pub(in crate::device::flash) fn add(&mut self, other: &Self) {
        self.host_units += other.host_units;
        self.moved_units += other.moved_units;
        self.padded_units += other.padded_units;
        self.erases += other.erases;
    }
}

/// Fill of flash, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Physical capacity.
    pub physical: u64,
    /// Capacity given up by SLC blocks, which hold one bit per cell.
    pub given_up: u64,
    /// Units addressed by the host.
    pub logical: u64,
    /// Logical units that hold data.
    pub mapped: u64,
    /// Erased units.
    pub erased: u64,
}

impl Fill {
    /// Return the spare for garbage collection as a share of mapped units. Erased units hold
    /// nothing to reclaim.
    pub fn effective_over_provisioning(&self) -> f64 {
        (self.physical - self.erased - self.mapped) as f64 / self.mapped as f64
    }

    /// Return the spare as a share of the written flash: 1 − ρ of the literature.
    pub fn effective_spare(&self) -> f64 {
        1.0 - self.mapped as f64 / (self.physical - self.erased) as f64
    }
}
