//! Settings of a served drive, as Python sends them.

use crate::fate::Durability;
use serde::Deserialize;
use std::path::PathBuf;
use tameshi_sim::Device;
use tameshi_spec::profile;

/// Settings of a served drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeSpec {
    /// Drive to serve.
    pub device: profile::Device,
    /// Bytes to serve at most; a flash drive is scaled down to them, another is cut off there.
    pub size_bytes: u64,
    /// Most bytes of memory that stored data may take.
    pub memory_bytes: u64,
    /// Seed of power cuts.
    pub seed: u64,
    /// The drive acknowledges flushes at once, and does nothing.
    pub ignores_flush: bool,
    /// File to mount the drive on.
    pub path: PathBuf,
    /// Name of the mount in the kernel's table.
    pub source: String,
    /// Use plain reads and writes of /dev/fuse even if the kernel offers its ring.
    pub plain: bool,
}

impl ServeSpec {
    /// Return whether the drive takes trims.
    #[must_use]
    pub fn takes_trims(&self) -> bool {
        !matches!(self.device, profile::Device::Hdd(_))
    }

    /// Build the device; return it with the bytes that it serves and its promises.
    ///
    /// # Errors
    /// A sentence that names the value no such drive can have.
    pub fn build(&self) -> Result<(Device, u64, Durability), String> {
        let mut profile = self.device.clone();
        if let profile::Device::Flash(flash) = &mut profile {
            let scale = flash.capacity.value.0.div_ceil(self.size_bytes.max(1));
            flash.simulated.scale = u32::try_from(scale).map_err(|_| "the size is too small for this drive")?;
        }
        let device = Device::new(&profile)?;
        let bytes = profile.capacity().0.min(self.size_bytes) / 4096 * 4096;
        let durability = Durability { ignores_flush: self.ignores_flush, ..Durability::of(&profile) };
        Ok((device, bytes, durability))
    }
}
