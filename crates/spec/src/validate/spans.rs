//! True if the parts of storages that streams work on are there.

use crate::errors::{bad_value, stream_error};
use crate::run::{PhaseSpec, PhaseStream, RunSpec, StorageSpec};
use crate::toml::document::{Source, Table, has_key};
use indexmap::IndexMap;
use tameshi_base::{InputError, Size};
use tameshi_workload::StreamSpec;

/// No stream's part reaches beyond its storage's end. Phases are as the study says, storages are
/// scaled.
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
            return Err(bad_value(source, table, &["workload", "stream", &stream.name, "span"], message, &accepted));
        }
    }
    Ok(())
}

/// Each stream's part of its storage holds at least one block.
pub(crate) fn hold_blocks(source: Source<'_>, table: &Table<'_>, run: &RunSpec) -> Result<(), InputError> {
    for stream in run.phases.iter().flat_map(|phase| &phase.streams) {
        let size = run.storage[&stream.storage].size;
        let addressed = addressed(&stream.stream, size);
        if addressed < stream.stream.least_span().0 {
            return Err(no_room(source, table, stream, &run.storage[&stream.storage]));
        }
        if let Some(error) = stream.stream.span_error(addressed) {
            let storage = &run.storage[&stream.storage];
            let unscaled = addressed.saturating_mul(storage.scale.into());
            return Err(match stream.stream.span_error(unscaled) {
                None => left_by_scale(source, table, stream, storage, &format!(": {}", error.message)),
                Some(_) => stream_error(source, table, &stream.name, &error),
            });
        }
    }
    Ok(())
}

/// Return whether a stream's part of a storage of that size is large enough.
pub(crate) fn has_room(stream: &StreamSpec, size: Size) -> bool {
    let addressed = addressed(stream, size);
    addressed >= stream.least_span().0 && stream.span_error(addressed).is_none()
}

/// Bytes that are addressed by a stream of `size` bytes of storage.
fn addressed(stream: &StreamSpec, size: Size) -> u64 {
    let rest = size.0.saturating_sub(stream.offset.0);
    stream.span.map_or(rest, |span| span.0.min(rest))
}

/// The error of a stream whose part of its storage is too small for it.
fn no_room(source: Source<'_>, table: &Table<'_>, stream: &PhaseStream, storage: &StorageSpec) -> InputError {
    let (size, least) = (storage.size, stream.stream.least_span());
    let at = |key| ["workload", "stream", &stream.name, key];
    let (what, holds) = match stream.stream.lsm {
        Some(_) => (format!("the {least} that its journal and its trees need"), "holds them"),
        None => (format!("one block of {least}"), "holds a block"),
    };
    if stream.stream.offset >= size {
        let message = format!("storage `{}` ends before it", stream.storage);
        let accepted = format!("less than {}, so that the rest {holds}", whole(size, storage.scale));
        return bad_value(source, table, &at("offset"), message, &accepted);
    }
    let addressed = addressed(&stream.stream, size);
    if addressed.saturating_mul(storage.scale.into()) >= least.0 {
        return left_by_scale(source, table, stream, storage, &format!(", no room for {what}"));
    }
    let no_room = |place: &str, name: &str| format!("{place} `{name}` has no room for {what} there");
    let keys = ["span", "lsm", "block_size_mix", "write_block_size_mix", "block_size", "offset"];
    let key = keys.into_iter().find(|key| has_key(table, &at(key)));
    let of_storage = ["storage", &stream.storage, "size"];
    if key.is_none() && has_key(table, &of_storage) {
        let (message, accepted) = (no_room("stream", &stream.name), format!("{least} or more"));
        return bad_value(source, table, &of_storage, message, &accepted);
    }
    let key = key.unwrap_or("block_size");
    let accepted = format!("a part of the storage's {} that {holds}", whole(size, storage.scale));
    bad_value(source, table, &at(key), no_room("storage", &stream.storage), &accepted)
}

/// The error of a stream that has room in its storage, and too little of it at the storage's scale.
fn left_by_scale(
    source: Source<'_>,
    table: &Table<'_>,
    stream: &PhaseStream,
    storage: &StorageSpec,
    why: &str,
) -> InputError {
    let (scale, left) = (storage.scale, rough(addressed(&stream.stream, storage.size)));
    let message = format!("at a scale of {scale} stream `{}` has {left} there{why}", stream.name);
    bad_value(source, table, &["storage", &stream.storage, "scale"], message, "a smaller scale")
}

/// The size of a storage before it was scaled.
fn whole(size: Size, scale: u32) -> Size {
    if scale > 1 { rough(size.0 * u64::from(scale)) } else { size }
}

/// Scaling rounds down, so large sizes are rounded to whole megabytes.
fn rough(bytes: u64) -> Size {
    if bytes < 100_000_000 { Size(bytes) } else { Size((bytes + 500_000) / 1_000_000 * 1_000_000) }
}
