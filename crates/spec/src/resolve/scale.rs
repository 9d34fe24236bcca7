//! Capacity scale: a flash drive is simulated at an n-th of its capacity, and sizes of the study in
//! bytes goes with it.
//!
//! Request sizes and times stay. A study that runs database engines or programs is not scaled
//! unless it asks for it.

use crate::profile::{Device, FlashProfile, Simulated, Written};
use crate::run::node::Node;
use crate::run::{PhaseSpec, StorageSpec};
use crate::study::{Aged, Stack, Study};
use crate::toml::document::{Source, Table};
use crate::validate::spans;
use indexmap::IndexMap;
use tameshi_base::{InputError, InputErrorKind, Share, Size, Time};
use tameshi_workload::{Pattern, StreamSpec};

/// Pages that a block keeps, and bytes that the used part of a storage keeps, at the scale that is
/// chosen by itself.
const PAGES_LEFT: u32 = 4;
const BYTES_LEFT: u64 = 1 << 30;
/// Program units of each die that a part of it keeps which is not worked on in order; and bytes of
/// a storage that time and memory are there for, if that takes them.
const UNITS_LEFT: u64 = 8;
const BYTES_BORNE: u64 = 64 << 30;
/// The largest default scale: up to it rates, means and medians were shown to
/// stay (docs/validation/capacity-scale.md).
const SHOWN: u64 = 256;
/// Largest wear of cells, in percent of their endurance.
const MOST_WORN: u32 = 1000;
/// Granule to which spans and sizes are rounded down.
const GRANULE_BYTES: u64 = 4096;
/// Shortest round of the steady-state rule after scaling.
const SHORTEST_ROUND: Time = Time(100_000_000);

/// Gives the flash drives of a storage their scale and their past; returns the storage's size and
/// scale.
pub(crate) fn apply(
    source: Source<'_>,
    table: &Table<'_>,
    (study, phases): (&Study, &[PhaseSpec]),
    name: &str,
    model: &mut Node,
    size: Size,
) -> Result<(Size, u32), InputError> {
    let stack = &study.storage[name];
    let (visible, drives) = (visible_share(model), model.drives());
    let Device::Flash(flash) = model.drive_mut() else {
        return match of_flash_only(stack) {
            None => Ok((size, 1)),
            Some(key) => {
                let message = "only flash drives are scaled, age, get warm, or differ by what was written before";
                Err(source.error_at(table, &["storage", name, key], InputErrorKind::Conflict, message))
            }
        };
    };
    if let Some(aged) = &stack.aged {
        age(source, table, name, flash, aged)?;
    }
    if let Some(ambient) = stack.ambient {
        crate::resolve::ambient::ambient(source, table, name, flash, ambient)?;
    }
    let most = flash.nand.pages_per_block.value;
    let suited = if needs_whole(study, phases, name, flash) { 1 } else { automatic(study, drives, flash, size) };
    let scale = stack.scale.unwrap_or_else(|| with_room(phases, name, model, size, suited));
    if !(1..=most).contains(&scale) {
        let message = "at this scale a block of the drive has no page left, or more than it has";
        let mut error = source.error_at(table, &["storage", name, "scale"], InputErrorKind::BadValue, message);
        error.accepted = vec![format!("1 to {most}")];
        return Err(error);
    }
    let scaled = take_on(model, size, scale);
    let capacity = model.capacity().0;
    if capacity < GRANULE_BYTES {
        return Err(nothing_left(source, table, name, model, scale));
    }
    let used = (u128::from(scaled.0) * u128::from(visible.0)).div_ceil(u128::from(capacity.max(1))) as u32;
    let used = Share(used.min(Share::WHOLE.0));
    if let Device::Flash(flash) = model.drive_mut() {
        let written = stack.written.unwrap_or_else(|| written_by_default(phases, name));
        flash.simulated = Simulated { written, used, ..flash.simulated };
    }
    Ok((scaled, scale))
}

/// Gives a storage's drives a scale; returns the storage's size at it.
fn take_on(model: &mut Node, size: Size, scale: u32) -> Size {
    if let Device::Flash(flash) = model.drive_mut() {
        flash.simulated.scale = scale;
    }
    if scale == 1 {
        return size;
    }
    let capacity = model.capacity().0;
    Size(granules(size.0 / u64::from(scale)).clamp(GRANULE_BYTES.min(capacity), capacity))
}

/// The error of a storage of which less than a block is left at its scale.
fn nothing_left(source: Source<'_>, table: &Table<'_>, name: &str, model: &Node, scale: u32) -> InputError {
    let told = |path: &[&str], what: &str, accepted: String| {
        let message = format!("{what} at a scale of {scale}");
        let mut error = source.error_at(table, path, InputErrorKind::BadValue, message);
        error.accepted = vec![accepted];
        error
    };
    let Node::OverProvisioned { of, .. } = model else {
        return told(&["storage", name, "scale"], "no block of the storage is left", "a smaller scale".into());
    };
    let least = (GRANULE_BYTES * u64::from(Share::WHOLE.0)).div_ceil(of.capacity().0.max(1));
    let least = Share(u32::try_from(least).unwrap_or(u32::MAX).min(Share::WHOLE.0));
    let path = ["storage", name, "over_provisioned", "visible"];
    told(&path, "no block of the device would be visible", format!("\"{least}\" or more"))
}

/// Apply wear to a flash drive.
fn age(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    flash: &mut FlashProfile,
    aged: &Aged,
) -> Result<(), InputError> {
    let conflict = |key: &str, message: &str| {
        Err(source.error_at(table, &["storage", name, "aged", key], InputErrorKind::Conflict, message))
    };
    if aged.worn_percent.is_some_and(|percent| percent > MOST_WORN) {
        let path = ["storage", name, "aged", "worn_percent"];
        let message = "wear is out of range: 100 is the whole endurance";
        let mut error = source.error_at(table, &path, InputErrorKind::BadValue, message);
        error.accepted = vec![format!("0 to {MOST_WORN}")];
        return Err(error);
    }
    flash.simulated.worn_percent = aged.worn_percent;
    if let Some(dead) = aged.dead_channels.filter(|&dead| dead > 0) {
        if flash.controller.parity_channels.value == 0 {
            return conflict("dead_channels", "without parity across its channels the drive would be dead, too");
        }
        let most = flash.controller.data_channels.value.saturating_sub(1);
        if dead > most {
            let path = ["storage", name, "aged", "dead_channels"];
            let message = "no channel would be left for data";
            let mut error = source.error_at(table, &path, InputErrorKind::BadValue, message);
            error.accepted = vec![format!("at most {most}")];
            return Err(error);
        }
        flash.simulated.dead_channels = dead;
    }
    match (&mut flash.buffer.power_loss_protection, aged.hold_up) {
        (Some(protection), Some(hold_up)) if hold_up > protection.hold_up.value => {
            let path = ["storage", name, "aged", "hold_up"];
            let message = "hold-up time is longer than that of a new drive";
            let mut error = source.error_at(table, &path, InputErrorKind::BadValue, message);
            error.accepted = vec![format!("at most {}", protection.hold_up.value)];
            return Err(error);
        }
        (Some(protection), Some(hold_up)) => protection.hold_up.value = hold_up,
        (None, Some(_)) => return conflict("hold_up", "the drive has no capacitor that could hold it up"),
        (_, None) => {}
    }
    Ok(())
}

/// Return the past of a flash storage whose study states none: once written if a stream reads it
/// or a database lies on it, for reads of what was never written take no flash; else new.
fn written_by_default(phases: &[PhaseSpec], name: &str) -> Written {
    let reads = |stream: &StreamSpec| stream.read > Share(0);
    let has_database = phases.iter().any(|phase| !phase.programs.is_empty());
    if has_database || streams_on(phases, name).any(reads) { Written::Once } else { Written::Never }
}

/// The streams of all phases on a storage.
fn streams_on<'a>(phases: &'a [PhaseSpec], name: &str) -> impl Iterator<Item = &'a StreamSpec> {
    let all = phases.iter().flat_map(|phase| &phase.streams);
    all.filter(move |stream| stream.storage == name).map(|stream| &stream.stream)
}

/// Return whether a scale would change the behaviour of a storage's drives over time: the default
/// then is none.
///
/// A scaled cache is full, a scaled drive worn in and a scaled rebuild done an n-th of the time
/// sooner; heat and idle work keep their times. A drive that is only read stays as it is, and so
/// does one declared steady. One that begins in another declared state may be scaled if no phase
/// that writes to it ends by time: its amounts are scaled with it.
fn needs_whole(study: &Study, phases: &[PhaseSpec], name: &str, flash: &FlashProfile) -> bool {
    let heats = flash.power.as_ref().is_some_and(|power| power.thermal.is_some());
    let rebuilds = study.event.values().any(|event| event.replace.is_some());
    let is_written = streams_on(phases, name).any(|stream| stream.read < Share::WHOLE);
    if heats || rebuilds || (is_written && (flash.slc_cache.is_some() || flash.idle.is_some())) {
        return true;
    }
    let written_for_a_time = |phase: &PhaseSpec| {
        phase.until.time.is_some()
            && phase.streams.iter().any(|on_it| on_it.storage == name && on_it.stream.read < Share::WHOLE)
    };
    match study.storage[name].written {
        None => is_written,
        Some(Written::Steady) => false,
        Some(Written::Never | Written::Once) => phases.iter().any(written_for_a_time),
    }
}

/// The scale of a study that states none: as large as leaves blocks of some pages and a drive of
/// some size.
fn automatic(study: &Study, drives: u32, flash: &FlashProfile, size: Size) -> u32 {
    let streams_only = study.workload.names().iter().all(|name| name.starts_with("stream."));
    if !streams_only || !study.engine.by_name().is_empty() {
        return 1;
    }
    let by_size = u64::from(flash.nand.pages_per_block.value / PAGES_LEFT).min(size.0 / BYTES_LEFT);
    1 << by_size.min(by_spans(study, drives, flash, size)).clamp(1, SHOWN).ilog2()
}

/// The scale, or the greatest half, quarter … of it at which each stream has room in the storage.
fn with_room(phases: &[PhaseSpec], name: &str, model: &mut Node, size: Size, suited: u32) -> u32 {
    let mut scale = suited;
    while scale > 1 {
        let scaled = take_on(model, size, scale);
        if streams_on(phases, name).all(|stream| spans::has_room(&part(stream, scale.into()), scaled)) {
            break;
        }
        scale /= 2;
    }
    scale
}

/// The scale at which the smallest part that is not worked on in order still lies on all dies
/// alike, as far as the storage does not get too large.
fn by_spans(study: &Study, drives: u32, flash: &FlashProfile, size: Size) -> u64 {
    let streams = study.workload.stream.values().filter(|stream| stream.pattern != Pattern::Sequential);
    let Some(least) = streams.filter_map(|stream| stream.span).min() else { return SHOWN };
    let (nand, controller) = (&flash.nand, &flash.controller);
    let channels = controller.data_channels.value + controller.parity_channels.value;
    let dies = [drives, controller.count.value, channels, controller.dies_per_channel.value];
    let program_unit = u64::from(nand.planes.value) * nand.page.value.0;
    let enough = dies.into_iter().map(u64::from).product::<u64>() * program_unit * UNITS_LEFT;
    (least.0 / enough.max(1)).max(size.0 / BYTES_BORNE)
}

/// The share of each drive's addresses that its stack shows.
fn visible_share(node: &Node) -> Share {
    match node {
        Node::Device { .. } => Share::WHOLE,
        Node::OverProvisioned { of, visible } => {
            Share((u64::from(visible_share(of).0) * u64::from(visible.0) / 1_000_000) as u32)
        }
        Node::Partition { of, function } if function.drive.is_none() => {
            Share(visible_share(of).0 / function.functions.max(1))
        }
        Node::Raid0 { of, .. }
        | Node::Raid1 { of, .. }
        | Node::Raid10 { of, .. }
        | Node::Raid5 { of, .. }
        | Node::Replica { of, .. }
        | Node::Partition { of, .. }
        | Node::Cache { of, .. } => visible_share(of),
    }
}

/// Offsets, spans, amounts and rounds of phases at the scale of their storages. A phase on storages
/// of several scales keeps the amount and the rounds of the smallest.
pub(crate) fn shrink(phases: &mut [PhaseSpec], storages: &IndexMap<String, StorageSpec>) {
    for phase in phases {
        let scale = |storage: &String| storages.get(storage).map_or(1, |storage| u64::from(storage.scale));
        let least = phase.streams.iter().map(|stream| scale(&stream.storage)).min().unwrap_or(1);
        for stream in &mut phase.streams {
            let by = scale(&stream.storage);
            if by > 1 {
                stream.stream = part(&stream.stream, by);
            }
        }
        if least > 1 {
            phase.until.amount = phase.until.amount.map(|amount| Size((amount.0 / least).max(1)));
            if let Some(round) = phase.until.steady.as_mut().and_then(|rule| rule.round.as_mut()) {
                *round = Time((round.0 / least).max(SHORTEST_ROUND.0.min(round.0)));
            }
        }
    }
}

/// A stream on its part of a storage at a scale.
fn part(stream: &StreamSpec, scale: u64) -> StreamSpec {
    let longest = stream.longest().0;
    StreamSpec {
        offset: Size(granules(stream.offset.0 / scale)),
        span: stream.span.map(|span| Size(granules(span.0 / scale).max(longest.min(span.0)))),
        ..stream.clone()
    }
}

fn granules(bytes: u64) -> u64 {
    bytes / GRANULE_BYTES * GRANULE_BYTES
}

/// Return a key of the stack that only flash drives have.
fn of_flash_only(stack: &Stack) -> Option<&'static str> {
    let age = stack.written.map(|_| "written").or(stack.aged.map(|_| "aged"));
    stack.scale.map(|_| "scale").or(age).or(stack.ambient.map(|_| "ambient"))
}

/// Return a key of an inner stack that only a storage may have.
pub(crate) fn of_storage_only(stack: &Stack) -> Option<&'static str> {
    let durability = [
        ("without_capacitor", stack.without_capacitor),
        ("without_atomic_write", stack.without_atomic_write),
        ("ignores_flush", stack.ignores_flush),
    ];
    let durability = durability.into_iter().find_map(|(key, is_set)| is_set.then_some(key));
    let host = stack.slot.map(|_| "slot").or(stack.arbitration.map(|_| "arbitration"));
    of_flash_only(stack).or(host).or(durability)
}
