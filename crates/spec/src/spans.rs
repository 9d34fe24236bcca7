//! Whether the parts of storages that streams work on are there.

use crate::check::{bad, objected};
use crate::document::{Source, Table, has_key};
use crate::resolve::addressed;
use crate::run::{PhaseSpec, RunSpec, StorageSpec};
use indexmap::IndexMap;
use tameshi_base::{InputError, Size};

/// No stream's part reaches beyond its storage's end. Phases are as the study says, storages are scaled.
pub(crate) fn end_within(
    source: Source<'_>,
    table: &Table<'_>,
    phases: &[PhaseSpec],
    storages: &IndexMap<String, StorageSpec>,
) -> Result<(), InputError> {
    for stream in phases.iter().flat_map(|phase| &phase.streams) {
        let storage = &storages[&stream.storage];
        let size = whole(storage.size, storage.scale);
        // Each drive and each stripe of a scaled storage is rounded down.
        let slack = if storage.scale > 1 { size.0 / 100 } else { 0 };
        let Some(rest) = size.0.checked_sub(stream.stream.offset.0).filter(|&rest| rest > 0) else { continue };
        if stream.stream.span.is_some_and(|span| span.0 > rest + slack) {
            let message = format!("storage `{}` ends before this part of it does", stream.storage);
            let accepted = format!("at most {}, the rest of the storage's {size}", Size(rest));
            return Err(bad(source, table, &["workload", "stream", &stream.name, "span"], message, &accepted));
        }
    }
    Ok(())
}

/// Each stream's part of its storage holds at least one block.
pub(crate) fn hold_blocks(source: Source<'_>, table: &Table<'_>, run: &RunSpec) -> Result<(), InputError> {
    for stream in run.phases.iter().flat_map(|phase| &phase.streams) {
        let storage = &run.storage[&stream.storage];
        let size = storage.size;
        let at = |key| ["workload", "stream", &stream.name, key];
        let least = stream.stream.least_span();
        if addressed(stream, size) < least.0 {
            let (what, holds) = match stream.stream.lsm {
                Some(_) => (format!("the {least} that its journal and its trees need"), "holds them"),
                None => (format!("one block of {least}"), "holds a block"),
            };
            if stream.stream.offset >= size {
                let message = format!("storage `{}` ends before it", stream.storage);
                let accepted = format!("less than {}, so that the rest {holds}", whole(size, storage.scale));
                return Err(bad(source, table, &at("offset"), message, &accepted));
            }
            let no_room = |place: &str, name: &str| format!("{place} `{name}` has no room for {what} there");
            let keys = ["span", "lsm", "block_size_mix", "write_block_size_mix", "block_size", "offset"];
            let key = keys.into_iter().find(|key| has_key(table, &at(key)));
            let of_storage = ["storage", &stream.storage, "size"];
            if key.is_none() && has_key(table, &of_storage) {
                let (message, accepted) = (no_room("stream", &stream.name), format!("{least} or more"));
                return Err(bad(source, table, &of_storage, message, &accepted));
            }
            let key = key.unwrap_or("block_size");
            let message = no_room("storage", &stream.storage);
            let accepted = format!("a part of the storage's {} that {holds}", whole(size, storage.scale));
            return Err(bad(source, table, &at(key), message, &accepted));
        }
        if let Some(objection) = stream.stream.span_objection(addressed(stream, size)) {
            return Err(objected(source, table, &stream.name, &objection));
        }
    }
    Ok(())
}

/// The size of a storage before it was scaled; scaling rounds down, so whole megabytes are near enough.
fn whole(size: Size, scale: u32) -> Size {
    let megabytes = |bytes: u64| (bytes + 500_000) / 1_000_000 * 1_000_000;
    if scale > 1 { Size(megabytes(size.0 * u64::from(scale))) } else { size }
}
