//! True if the drives that streams trim have a use for it.

use crate::errors::bad_value;
use crate::profile::Device;
use crate::run::RunSpec;
use crate::toml::document::{Source, Table};
use tameshi_base::{InputError, Share};

/// No stream trims hard disks: those that are modelled refuse discards.
pub(crate) fn are_taken(source: Source<'_>, table: &Table<'_>, run: &RunSpec) -> Result<(), InputError> {
    for stream in run.phases.iter().flat_map(|phase| &phase.streams) {
        let model = run.storage[&stream.storage].model.as_ref();
        let Some((drive, Device::Hdd(_))) = model.map(|model| model.drive()) else { continue };
        if !stream.stream.trims() {
            continue;
        }
        let is_share = stream.stream.trim > Share(0);
        let (key, without) = if is_share { ("trim", "\"0 %\"") } else { ("trim_first", "false") };
        let message =
            format!("the drive of storage `{}`, `{drive}`, is a hard disk, which refuses trims", stream.storage);
        let accepted = format!("{without}, or a storage of flash drives");
        return Err(bad_value(source, table, &["workload", "stream", &stream.name, key], message, &accepted));
    }
    Ok(())
}
