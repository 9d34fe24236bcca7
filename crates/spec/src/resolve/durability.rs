//! Broken promises of a storage's drives about power cuts; refused if they change nothing.

use crate::profile::Device;
use crate::run::node::Node;
use crate::toml::document::{Source, Table};
use tameshi_base::{InputError, InputErrorKind};

/// Remove the capacitor of a storage's flash drives.
pub(crate) fn remove_capacitor(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    model: &mut Node,
) -> Result<(), InputError> {
    let drive = model.drive().0.to_string();
    if let Device::Flash(flash) = model.drive_mut()
        && flash.buffer.power_loss_protection.take().is_some()
    {
        return Ok(());
    }
    let message = format!("drive `{drive}` has no capacitor, by its profile");
    let accepted = "a flash drive with `buffer.power_loss_protection`";
    Err(without_effect(source, table, &["storage", name, "without_capacitor"], message, accepted))
}

/// Remove the atomic writes of a storage's flash drives: only mapping units are stored whole.
pub(crate) fn remove_atomic_write(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    model: &mut Node,
) -> Result<(), InputError> {
    let drive = model.drive().0.to_string();
    if let Device::Flash(flash) = model.drive_mut()
        && flash.atomic_write.take().is_some()
    {
        return Ok(());
    }
    let message = format!("drive `{drive}` has no atomic writes beyond one unit, by its profile");
    let accepted = "a flash drive with `atomic_write`";
    Err(without_effect(source, table, &["storage", name, "without_atomic_write"], message, accepted))
}

/// Require that a storage may lose data at a power cut, which flushes prevent.
pub(crate) fn require_volatile(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    model: &Node,
) -> Result<(), InputError> {
    if model.is_volatile() {
        return Ok(());
    }
    let message =
        format!("drive `{}` has no volatile cache, so it loses nothing if it ignores flushes", model.drive().0);
    let accepted = "a disk with `write_cache`, a flash drive without a capacitor, or a volatile cache";
    Err(without_effect(source, table, &["storage", name, "ignores_flush"], message, accepted))
}

fn without_effect(source: Source<'_>, table: &Table<'_>, path: &[&str], message: String, accepted: &str) -> InputError {
    let mut error = source.error_at(table, path, InputErrorKind::Conflict, message);
    error.accepted = vec![accepted.to_string()];
    error
}
