//! One storage of a file, without the rest of a study: for a drive that is served by hand.
//!
//! The file is a study, or holds only storages and links. Axes and `quick` are not applied.

use crate::errors::unknown_name;
use crate::profile::Device;
use crate::profile::catalog::Profiles;
use crate::resolve::arrays::write_out;
use crate::resolve::{resolve_storage, storage_node};
use crate::run::node::Node;
use crate::run::{StorageSpec, World};
use crate::study::{Stack, Study};
use crate::toml::document::{Source, Table};
use crate::validate::values;
use serde::{Deserialize, Serialize};
use tameshi_base::{InputError, InputErrorKind, Size};
use toml::Spanned;
use toml::de::DeValue;

/// Keys of a file that decide about a storage.
const KEYS: [&str; 2] = ["storage", "link"];

/// Request for a storage.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageRequest {
    /// Name of the storage; absent: the only one of the file.
    #[serde(default)]
    pub name: Option<String>,
    /// Bytes to have instead of those that the file states.
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// Most bytes of drives other than disks, if neither request nor file state any.
    pub most_bytes: u64,
}

/// Resolved storage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoneStorage {
    /// Its name.
    pub name: String,
    /// Its drive or stack of drives. Flash is scaled down to the bytes asked for.
    pub node: Node,
    /// Bytes to use, from its start.
    pub size_bytes: u64,
    /// Bytes of the drive or stack that the profiles describe.
    pub capacity_bytes: u64,
    /// The drive acknowledges flushes at once, and ignores them.
    pub ignores_flush: bool,
}

/// Return the key of a stack's part that the caller cannot use, with the reason.
pub type NodeCheck<'a> = &'a dyn Fn(&Node) -> Option<(&'static str, &'static str)>;

/// Resolve a storage of a file.
///
/// # Errors
/// At the first error in the file's storages, or in a profile that they name.
pub fn lone_storage<'t>(
    source: Source<'t>,
    request: &StorageRequest,
    profiles: &'t Profiles,
    check: NodeCheck<'_>,
) -> Result<LoneStorage, InputError> {
    let mut document = only_storages(source.parse()?);
    write_out(source, &mut document, profiles)?;
    let mut study: Study = source.typed(&document)?;
    values::study(source, &document, &study)?;
    let name = chosen(source, &document, &study, request.name.as_deref())?;
    let whole = storage_node(source, &document, &study, &name, profiles)?;
    if let Some((key, message)) = check(&whole) {
        let path = ["storage", &name, key];
        return Err(source.error_at(&document, &path, InputErrorKind::Conflict, message));
    }
    let stack = study.storage.get_mut(&name).expect("the storage was chosen from these");
    resize(source, &document, (&name, stack), &whole, request)?;
    let resolved = resolve_storage(source, &document, (&study, &[]), &name, World::Emulated, profiles)?;
    let StorageSpec { size, model, ignores_flush, .. } = resolved;
    let node = model.expect("a storage of the emulated world has a model");
    Ok(LoneStorage { name, node, size_bytes: size.0, capacity_bytes: whole.capacity().0, ignores_flush })
}

/// Return a document that types as a study. Of a study only its storages count; another file may
/// hold nothing else.
pub(crate) fn only_storages(document: Table<'_>) -> Table<'_> {
    let is_study = document.contains_key("title");
    let counts = |key: &str| !is_study || KEYS.contains(&key);
    let mut document: Table<'_> = document.into_iter().filter(|(key, _)| counts(key.get_ref())).collect();
    for key in ["title", "question"] {
        document.insert(Spanned::new(0..0, key.into()), Spanned::new(0..0, DeValue::String("storage".into())));
    }
    document
}

/// Return the storage that is named, or the only one.
fn chosen<'t>(source: Source<'t>, table: &Table<'t>, study: &Study, name: Option<&str>) -> Result<String, InputError> {
    let all: Vec<String> = study.storage.keys().cloned().collect();
    match (name, all.as_slice()) {
        (Some(name), _) if study.storage.contains_key(name) => Ok(name.into()),
        (Some(name), _) => {
            Err(InputError { found: name.into(), ..unknown_name(source, table, &["storage"], "storage", name, all) })
        }
        (None, [only]) => Ok(only.clone()),
        (None, _) => {
            let message = if all.is_empty() { "the file has no storage" } else { "the file has several storages" };
            let mut error = source.error_at(table, &["storage"], InputErrorKind::MissingKey, message);
            error.accepted = if all.is_empty() { vec!["[storage.NAME]".into()] } else { all };
            Err(error)
        }
    }
}

/// Give a storage its size: flash a scale, another drive an end.
fn resize<'t>(
    source: Source<'t>,
    table: &Table<'t>,
    (name, stack): (&str, &mut Stack),
    whole: &Node,
    request: &StorageRequest,
) -> Result<(), InputError> {
    let stated = [("size", stack.size.is_some()), ("scale", stack.scale.is_some())];
    if let Some((key, _)) = stated.into_iter().find(|&(_, stated)| stated) {
        if request.size_bytes.is_some() {
            let message = "the file states a size already; leave out either this key or `--size`";
            return Err(source.error_at(table, &["storage", name, key], InputErrorKind::Conflict, message));
        }
        if matches!(whole.drive().1, Device::Flash(_)) {
            stack.scale = stack.scale.or(Some(1));
        }
        return Ok(());
    }
    let capacity = whole.capacity().0;
    let is_disk = matches!(whole.drive().1, Device::Hdd(_));
    let default = if is_disk { capacity } else { request.most_bytes };
    let wanted = request.size_bytes.unwrap_or(default.min(capacity)).max(1);
    if wanted > capacity {
        let mut error = source.error_at(table, &["storage", name], InputErrorKind::BadValue, "the storage is smaller");
        error.found = Size(wanted).to_string();
        error.accepted = vec![format!("`--size` of at most \"{}\"", Size(capacity))];
        return Err(error);
    }
    let Device::Flash(flash) = whole.drive().1 else {
        stack.size = Some(Size(wanted));
        return Ok(());
    };
    let (scale, most) = (capacity.div_ceil(wanted), u64::from(flash.nand.pages_per_block.value));
    if scale > most {
        let message = "at so small a size a block of the drive has no page left";
        let mut error = source.error_at(table, &["storage", name], InputErrorKind::BadValue, message);
        error.found = Size(wanted).to_string();
        let least = capacity.div_ceil(most).next_multiple_of(1 << 20);
        error.accepted = vec![format!("`--size \"{}\"` or more", Size(least))];
        return Err(error);
    }
    stack.scale = Some(scale as u32);
    Ok(())
}
