//! Settings of a served drive, as Python sends them.

use crate::door::Offer;
use crate::fate::Durability;
use crate::store::Store;
use serde::Deserialize;
use std::path::PathBuf;
use tameshi_base::{Share, Slow};
use tameshi_sim::{Device, SeedPath, stack};
use tameshi_spec::profile;
use tameshi_spec::run::Node;

/// Granule of a block device's size.
const SECTOR: u64 = 512;

/// Settings of a served drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeSpec {
    /// Drive to serve, or a stack of drives.
    pub node: Node,
    /// Storage of a run, in the state in which the simulated run begins; absent: a drive by itself.
    #[serde(default)]
    pub storage: Option<String>,
    /// Bytes that the run uses of its storage.
    #[serde(default)]
    pub run_bytes: u64,
    /// Bytes to serve at most, from the start of the drive.
    pub size_bytes: u64,
    /// Most bytes of memory, or of the disk, that stored data may take.
    pub limit_bytes: u64,
    /// Directory for the data, on a disk; absent: they are in memory.
    #[serde(default)]
    pub store: Option<PathBuf>,
    /// Members fail during the run: commands under way at a dead drive fail.
    #[serde(default)]
    pub fails: bool,
    /// Forget what is written: reads return zeros.
    #[serde(default)]
    pub forgets: bool,
    /// Seed of the storage's draws and of power cuts.
    pub seed: u64,
    /// The drive acknowledges flushes at once, and does nothing.
    pub ignores_flush: bool,
    /// The drive has to be flushed.
    #[serde(default)]
    pub takes_flushes: bool,
    /// Address to serve by NBD, instead of a mount: `unix:PATH` or `IP:PORT`.
    #[serde(default)]
    pub nbd: Option<String>,
    /// File to mount the drive on.
    pub path: PathBuf,
    /// Name of the mount in the kernel's table.
    pub source: String,
    /// Slow motion: the drive's time passes that much slower.
    #[serde(default)]
    pub slow: Slow,
    /// Use plain reads and writes of /dev/fuse even if the kernel offers its ring.
    pub plain: bool,
}

impl ServeSpec {
    /// Create the empty store of a drive of some bytes.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn empty_store(&self, bytes: u64) -> Result<Store, String> {
        match &self.store {
            None => Store::new(bytes, self.limit_bytes).map_err(|error| format!("memory for the drive: {error}")),
            Some(directory) => Store::in_directory(directory, bytes, self.limit_bytes)
                .map_err(|why| format!("data of the drive in {}: {why}", directory.display())),
        }
    }

    /// Return the place of the data: `memory`, or the directory.
    pub(crate) fn place(&self) -> String {
        self.store.as_ref().map_or_else(|| "memory".into(), |directory| directory.display().to_string())
    }

    /// Return whether the drive takes trims.
    #[must_use]
    pub fn takes_trims(&self) -> bool {
        !matches!(self.node.drive().1, profile::Device::Hdd(_))
    }

    /// Return the properties that users of the drive see; `bytes` are served.
    pub(crate) fn offer(&self, bytes: u64) -> Offer {
        let is_rotational = matches!(self.node.drive().1, profile::Device::Hdd(_));
        Offer { bytes, trims: self.takes_trims(), flushes: self.takes_flushes, is_rotational }
    }

    /// Return whether data that are stored without the model have yet to be written to it: those of
    /// flash that was never written before.
    #[must_use]
    pub fn is_taught(&self) -> bool {
        let never = |flash: &profile::FlashProfile| flash.simulated.written == profile::Written::Never;
        matches!(self.node.drive().1, profile::Device::Flash(flash) if never(flash))
    }

    /// Build the device; return it with the bytes that it serves and its promises.
    ///
    /// # Errors
    /// A sentence that names the value no such device can have.
    pub fn build(&self) -> Result<(Device, u64, Durability), String> {
        let (node, seeds) = match &self.storage {
            Some(name) => (self.in_use(), SeedPath::new(self.seed, name)),
            None => (self.node.clone(), SeedPath::default()),
        };
        let device = if self.fails { stack::watched(&node, &seeds)? } else { stack::placed(&node, &seeds)? };
        let bytes = node.capacity().0.min(self.size_bytes) / SECTOR * SECTOR;
        Ok((device, bytes, Durability { ignores_flush: self.ignores_flush, ..Durability::of(&node) }))
    }

    /// Return the node with its flash in use as far as it is served: a file system also uses what
    /// is beyond the run's own size.
    fn in_use(&self) -> Node {
        let mut node = self.node.clone();
        let share = u128::from(self.size_bytes) * u128::from(Share::WHOLE.0) / u128::from(node.capacity().0.max(1));
        let is_visible = !matches!(node, Node::OverProvisioned { .. });
        if let profile::Device::Flash(flash) = node.drive_mut() {
            let share = Share(u32::try_from(share).map_or(Share::WHOLE.0, |share| share.min(Share::WHOLE.0)));
            if is_visible && self.size_bytes > self.run_bytes {
                flash.simulated.used = flash.simulated.used.max(share);
            }
        }
        node
    }
}
